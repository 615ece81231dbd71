#pragma once
// The difference of two volumes: mean squared error, PSNR and 3-D SSIM.

#include <array>
#include <cstdint>
#include <vector>

#include "core/slices.h"

namespace lull::tools {

/// Sums over the compared voxels of a volume, for mean squared error and SSIM. The caller can add
/// the sums of several volumes.
struct VolumeTotals {
  std::int64_t voxels = 0;  // number of compared voxels
  // Number of voxels that the comparison omits because a value is not finite.
  std::int64_t not_finite = 0;
  double squares = 0;          // sum of squared differences
  std::int64_t positions = 0;  // number of window positions of SSIM
  double ssim_sum = 0;

  VolumeTotals& operator+=(const VolumeTotals& other);
  double mse() const;   // NaN if there are no voxels
  double ssim() const;  // NaN if there are no window positions
};

/// Compares two volumes of equal size by their mean squared error and SSIM (Wang 2004,
/// doi:10.1109/TIP.2003.819861): Gaussian windows of 11x11x11 voxels with sigma 1.5, K1 = 0.01, K2
/// = 0.03, centred within the mask. Windows with values that are not finite do not count.
class VolumeQuality {
 public:
  /// @param peak  the dynamic range L of SSIM, above 0
  VolumeQuality(int width, int height, std::int64_t slices, double peak);

  /// Adds the next slice of both volumes. `a` and `b` contain the values of the slice, row by row.
  /// @param mask  mask of the compared voxels, or null to compare all voxels; must exist until the
  ///     last call of add()
  void add(const std::vector<double>& a, const std::vector<double>& b, const SliceMask* mask);
  const VolumeTotals& totals() const { return totals_; }

 private:
  /// Local means at the window positions: the means of a, b, a^2 + b^2 and a * b for samples a and
  /// b of the two volumes.
  using Moments = std::array<std::vector<float>, 4>;

  void add_errors(const std::vector<double>& a, const std::vector<double>& b,
                  const SliceMask* mask);
  void fill(const std::vector<double>& a, const std::vector<double>& b);
  void blur(Moments& into);
  void add_positions();

  int width_, height_;
  double peak_;
  std::vector<float> across_, down_, through_;  // the window along each axis
  int positions_x_, positions_y_;
  Moments samples_, rows_, local_;
  std::vector<Moments> ring_;            // the last slices
  std::vector<const SliceMask*> masks_;  // masks of all slices so far
  VolumeTotals totals_;
};

}  // namespace lull::tools
