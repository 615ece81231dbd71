#pragma once
// The stages of the reference backend, one by one, so that tests can hold the stages of the other
// backends against them. Everything is double.

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

/// The patches of a group: samples or coefficients, in the order of its members.
template <class Coefficient>
using GroupStack = std::vector<PatchValues<Coefficient>>;

/// `planes`: of all frames that the group has patches of.
template <class Coefficient>
[[nodiscard]] GroupStack<Coefficient> gather(std::span<const FramePlane> planes, int x, int y,
                                             const Group& group, PatchShape shape = square_8);

/// Something for each coefficient of a patch, row by row.
using PerCoefficient = std::array<double, max_patch_samples>;

/// Variance of the noise in each coefficient of a group, in units of the noise's: [coefficient of
/// the group transform][coefficient of a patch]. Empty: 1 for all, as of white noise in patches
/// that do not overlap.
using GroupVariances = std::vector<PerCoefficient>;

/// Those of noise with this covariance: the diagonal of H C H^T for each coefficient of a patch,
/// where H is the transform across the group and C the covariance of the members' coefficients.
/// Members of different frames share no noise.
[[nodiscard]] GroupVariances group_variances(const PatchCovariance& covariance, const Group& group,
                                             GroupTransform across);

/// Collaborative hard threshold of `stack` in place: coefficients of magnitude <= `threshold` times
/// the noise's deviation become 0; for those of the mean over the group (coefficient 0 of the group
/// transform) the limit is `mean_factor` times that. Gives the group's weight: 1 / the sum of the
/// variances of what is retained.
template <class Coefficient>
double hard_threshold(GroupStack<Coefficient>& stack, const PatchTransform<Coefficient>& transform,
                      GroupTransform across, const PerCoefficient& threshold, double mean_factor,
                      const GroupVariances& variances = {});

/// Collaborative Wiener filter of `stack` in place, with the spectrum of `basic` (patches of the
/// basic estimate) as that of the signal and `noise` = mu2 sigma^2 times the variances. Gives the
/// group's weight: 1 / the sum of variances times squared factors.
template <class Coefficient>
double wiener(GroupStack<Coefficient>& stack, GroupStack<Coefficient> basic,
              const PatchTransform<Coefficient>& transform, GroupTransform across,
              const PerCoefficient& noise, const GroupVariances& variances = {});

/// The same for all coefficients, as of white noise.
[[nodiscard]] inline PerCoefficient for_all(double value) {
  PerCoefficient values;
  values.fill(value);
  return values;
}

/// The weights of a group's members (group_means.h). `stacks`: its patches of each plane, with the
/// planes' sigmas.
[[nodiscard]] std::vector<double> means_weights(std::span<const GroupStack<double>> stacks,
                                                std::span<const double> sigmas,
                                                const MeansCurve& curve);
/// The weighted mean of the patches of one plane.
[[nodiscard]] PatchValues<double> weighted_mean(const GroupStack<double>& stack,
                                                std::span<const double> weights);

/// Aggregation: the weighted mean of all estimates of a sample.
class Accumulator {
 public:
  Accumulator(int width, int height);
  /// Adds the estimate of one patch, at (x, y), weighted by `weight` and the separable `window`.
  template <class Coefficient>
  void add(const PatchValues<Coefficient>& estimate, int x, int y, double weight,
           const std::array<float, patch>& window, int side = patch);
  /// The same for samples of a square, row by row, with the weight 1.
  void add(std::span<const double> estimate, int x, int y, int side);
  /// 0 where no patch covers a sample.
  void divide(PlaneView<float> estimate) const;
  void clear();

 private:
  int width_;
  std::vector<double> numerator_, denominator_;
};

}  // namespace lull::bm3d
