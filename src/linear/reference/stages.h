#pragma once
// The stages of the reference backend as separate functions, so that tests can compare the stages
// of the other backends with them. The code follows the formulas of params.h one by one, in double
// precision.

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.h"
#include "linear/groups.h"
#include "linear/reference/matrix.h"
#include "noise/noise_model.h"

namespace lull::linear::reference {

/// Returns the members of the group that belongs to the reference patch at (x, y), in the order of
/// their keys.
[[nodiscard]] std::vector<std::uint16_t> find_group(PlaneView<const std::uint8_t> guide, int x,
                                                    int y, const GroupSizes& sizes);

/// Returns the patches of a group whose reference patch is at (x, y).
[[nodiscard]] Matrix gather(PlaneView<const float> picture, int x, int y,
                            std::span<const Displacement> members, int side);

/// Returns C (params.h): the covariance of the noise of two members, summed over the n samples of a
/// patch.
[[nodiscard]] Matrix shared_noise(std::span<const Displacement> members, const PlaneNoise& noise,
                                  int n);

/// Returns Theta (params.h) for the patches that determine it: Y in the pilot, X in an iteration.
/// The noise C is multiplied by `assumed` in Q, and by `removed` in Theta.
[[nodiscard]] Matrix theta_of(const Matrix& patches, const Matrix& noise, double assumed,
                              double removed);

/// Returns the aggregation weights of the estimates: 1 / sqrt(max(sum of the squares of a row of
/// Theta, 1/k)).
[[nodiscard]] std::vector<double> weights_of(const Matrix& theta);

/// Returns t (params.h), the remaining noise in Z in units of `sigma`.
[[nodiscard]] double remaining_noise(const Matrix& y, const Matrix& z, double sigma, double tau);

/// Accumulates the weighted mean of all estimates of each sample.
class Average {
 public:
  Average(int width, int height);
  /// Adds row `i` of `estimates`, which is the patch at (x, y).
  void add(const Matrix& estimates, int i, int x, int y, int side, double weight);
  void divide(PlaneView<float> to) const;

 private:
  int width_;
  std::vector<double> sums_, weights_;
};

}  // namespace lull::linear::reference
