#pragma once
// The stages of the `reference` backend as separate functions, in double precision, after the
// formulas of params.h. Tests compare the stages of other backends with these functions.

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.h"
#include "linear/groups.h"
#include "linear/reference/matrix.h"
#include "noise/holes.h"
#include "noise/noise_model.h"

namespace lull::linear::reference {

/// Returns the members of the group of reference patch (i, j), in the order of their keys.
/// guides[f] is the quantised guide of frame f. `holes` are the holes of a single frame, or null.
[[nodiscard]] std::vector<std::uint16_t> find_group(
    std::span<const PlaneView<const std::uint8_t>> guides, const GuideRange& range,
    const Groups& groups, int i, int j, const Holes* holes = nullptr);

/// The members of one group.
struct Group {
  const Groups& all;
  int halves;
  std::vector<Place> members;

  int side() const { return all.sizes().side; }
  /// Returns the position of a member in the first (`half` = 0) or second (`half` = 1) frame of its
  /// patch.
  Place half(int member, int half) const {
    Place place = members[member];
    if (half == 1) place.frame = all.frames()[place.frame].partner;
    return place;
  }
};

/// Returns the patches of the group of the reference patch at (x, y). pictures[f] is the picture of
/// frame f.
[[nodiscard]] Matrix gather(std::span<const PlaneView<const float>> pictures, int x, int y,
                            const Group& group);

/// Returns the noise covariance matrix C of the members (params.h), summed over the samples of a
/// patch.
[[nodiscard]] Matrix shared_noise(const Group& group, const PlaneNoise& noise);

/// Returns the matrix Theta (params.h). `patches` is Y in the pilot, and X in an iteration. `noise`
/// is the covariance matrix C. `assumed` is the factor of C in the formula of Q, and `removed` is
/// the factor of C in the formula of Theta.
[[nodiscard]] Matrix theta_of(const Matrix& patches, const Matrix& noise, double assumed,
                              double removed);

/// Returns the aggregation weights of the estimates. The weight of row i is 1 / sqrt(max(sum_j
/// Theta_ij^2, 1/k)), where k is the number of rows.
[[nodiscard]] std::vector<double> weights_of(const Matrix& theta);

/// Returns the noise level t of Z (params.h), in units of `sigma`.
[[nodiscard]] double remaining_noise(const Matrix& y, const Matrix& z, double sigma, double tau);

/// Aggregation: computes the weighted mean of all estimates of each sample.
class Average {
 public:
  Average() = default;
  Average(int width, int height);
  /// Adds the estimate of one patch to the sums, at the position (x, y). Row `i` of `estimates`
  /// contains the samples of this patch. `half` selects the samples in the first frame (0) or in
  /// the second frame (1) of the patch.
  void add(const Matrix& estimates, int i, int half, int x, int y, int side, double weight);
  void divide(PlaneView<float> to) const;

 private:
  int width_ = 0;
  std::vector<double> sums_, weights_;
};

}  // namespace lull::linear::reference
