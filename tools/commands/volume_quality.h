#pragma once
// Difference of two volumes: mean squared error, PSNR and three-dimensional SSIM.

#include <array>
#include <cstdint>
#include <vector>

#include "core/slices.h"

namespace lull::tools {

/// Sums over voxels; the sums of several volumes can be added.
struct VolumeTotals {
  std::int64_t voxels = 0;      // number of compared voxels
  std::int64_t not_finite = 0;  // voxels that were left out because a value is not finite
  double squares = 0;           // sum of squared differences
  std::int64_t positions = 0;   // number of window positions of SSIM
  double ssim_sum = 0;

  VolumeTotals& operator+=(const VolumeTotals& other);
  double mse() const;   // NaN without voxels; the same applies to values derived from it
  double ssim() const;  // NaN without window positions
};

/// Two volumes of one size, slice after slice.
///
/// SSIM is that of Wang 2004 (doi:10.1109/TIP.2003.819861) with a Gaussian window in three
/// dimensions: 11x11x11 voxels, sigma 1.5, K1 = 0.01, K2 = 0.03, the mean over every place where
/// the window lies within the volume and its centre within the mask. Along a side of less than 11
/// voxels the window is as long as the side. Windows with a voxel that is not finite do not count.
class VolumeQuality {
 public:
  /// `peak` > 0: the dynamic range L of SSIM.
  VolumeQuality(int width, int height, std::int64_t slices, double peak);

  /// Adds the next slice of each volume, row by row. `mask`: the voxels that are used, null: all;
  /// it must exist until totals() is called.
  void add(const std::vector<double>& a, const std::vector<double>& b, const SliceMask* mask);
  const VolumeTotals& totals() const { return totals_; }

 private:
  /// Local means of a, b, a^2 + b^2 and ab.
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
