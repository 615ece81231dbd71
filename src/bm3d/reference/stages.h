#pragma once
// The stages of the `reference` backend as separate functions, in double precision. Tests compare
// the stages of other backends with these functions.

#include <array>
#include <complex>
#include <span>
#include <vector>

#include "bm3d/group_means.h"
#include "bm3d/params.h"
#include "bm3d/transforms.h"
#include "core/image.h"
#include "match/group.h"
#include "match/reference/matcher.h"
#include "noise/patch_covariance.h"

namespace lull::bm3d {

/// The patches of a group, as samples or coefficients, in the order of the members.
template <class Coefficient>
using GroupStack = std::vector<PatchValues<Coefficient>>;

/// Copies the patches of a group whose reference patch is at (x, y). `planes` contains one plane
/// for each frame in which the group has patches.
template <class Coefficient>
[[nodiscard]] GroupStack<Coefficient> gather(std::span<const FramePlane> planes, int x, int y,
                                             const Group& group, PatchShape shape = square_8);

/// One value for each coefficient of a patch, row by row.
using PerCoefficient = std::array<double, max_patch_samples>;

/// Noise variances of the coefficients of a group, relative to the noise variance, as [coefficient
/// across the group][coefficient of a patch]. An empty vector means that all variances are 1.
using GroupVariances = std::vector<PerCoefficient>;

/// Returns the noise variances of the coefficients of a group: for each coefficient of a patch, the
/// diagonal of H C H^T. H is the matrix of the transform across the group. C is the covariance
/// matrix of this coefficient over the members. The noise of members of different frames is
/// uncorrelated.
[[nodiscard]] GroupVariances group_variances(const PatchCovariance& covariance, const Group& group,
                                             GroupTransform across);

/// Applies collaborative hard thresholding in place. The threshold of a coefficient is its value in
/// `threshold` times the square root of its value in `variances`. The threshold of the mean over
/// the group is also multiplied by `mean_factor`. Returns the group weight: 1 / (sum of the
/// variances of the retained coefficients).
template <class Coefficient>
double hard_threshold(GroupStack<Coefficient>& stack, const PatchTransform<Coefficient>& transform,
                      GroupTransform across, const PerCoefficient& threshold, double mean_factor,
                      const GroupVariances& variances = {});

/// Applies the collaborative Wiener filter in place. `basic` contains the patches of the basic
/// estimate. The noise power of a coefficient is its value in `noise` (mu2 * sigma^2) times its
/// value in `variances`. Returns the group weight 1 / s, where s is the sum of all squared Wiener
/// factors, each multiplied by the variance of its coefficient.
template <class Coefficient>
double wiener(GroupStack<Coefficient>& stack, GroupStack<Coefficient> basic,
              const PatchTransform<Coefficient>& transform, GroupTransform across,
              const PerCoefficient& noise, const GroupVariances& variances = {});

/// Returns a table with `value` for all coefficients, as for white noise.
[[nodiscard]] inline PerCoefficient uniform_coefficients(double value) {
  PerCoefficient values;
  values.fill(value);
  return values;
}

/// Returns the weights of the members of a group (group_means.h). `stacks` contains the patches of
/// each plane, and `sigmas` contains the noise levels of the planes.
[[nodiscard]] std::vector<double> means_weights(std::span<const GroupStack<double>> stacks,
                                                std::span<const double> sigmas,
                                                const MeansCurve& curve);
/// Returns the weighted mean of the patches of one plane.
[[nodiscard]] PatchValues<double> weighted_mean(const GroupStack<double>& stack,
                                                std::span<const double> weights);

/// Aggregation: computes the weighted mean of all estimates of each sample.
class Accumulator {
 public:
  Accumulator(int width, int height);
  /// Adds the estimate of the patch at (x, y), multiplied by `weight` and by the separable
  /// `window`.
  template <class Coefficient>
  void add(const PatchValues<Coefficient>& estimate, int x, int y, double weight,
           const std::array<float, patch>& window, int side = patch);
  /// Adds the samples of a square patch, stored row by row in `estimate`, to the sums at (x, y),
  /// with the weight 1.
  void add(std::span<const double> estimate, int x, int y, int side);
  /// Writes the mean of the estimates of each sample, or 0 if no patch covers the sample.
  void divide(PlaneView<float> estimate) const;
  void clear();

 private:
  int width_;
  std::vector<double> numerator_, denominator_;
};

}  // namespace lull::bm3d
