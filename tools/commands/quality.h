#pragma once
// The difference of two pictures: mean squared error, PSNR and SSIM.

#include <array>
#include <cstdint>
#include <vector>

#include "core/frame.h"
#include "core/image.h"

namespace lull::tools {

/// Returns the mean squared difference of two planes of equal size, at least 1x1, with samples of
/// the type std::uint8_t, std::uint16_t or float. The mean omits positions where a sample is not
/// finite (NaN or infinite). It is NaN if no position remains.
/// @param not_finite  receives the number of omitted positions; may be null
template <class T>
[[nodiscard]] double mean_squared_error(PlaneView<const T> a, PlaneView<const T> b,
                                        std::int64_t* not_finite = nullptr);

/// Returns 10 * log10(peak^2 / mse) in dB; infinity for mse = 0, and NaN for NaN.
[[nodiscard]] double psnr(double mse, double peak);

/// Returns the Gaussian window of Wang 2004 for a side of `length` samples: min(11, length) weights
/// with sigma 1.5 and the sum 1.
[[nodiscard]] std::vector<float> gaussian_window(int length);

/// Returns the mean SSIM (Wang 2004, doi:10.1109/TIP.2003.819861) over all window positions:
/// Gaussian window of 11x11 samples, or fewer in small pictures, sigma 1.5, K1 = 0.01, K2 = 0.03,
/// no downsampling. The mean omits windows with samples that are not finite. It is NaN if no window
/// remains.
template <class T>
[[nodiscard]] double ssim(PlaneView<const T> a, PlaneView<const T> b, double peak);

struct PlaneQuality {
  double mse = 0;   // in squared sample steps
  double psnr = 0;  // in dB
  double ssim = 0;
  std::int64_t not_finite = 0;  // number of positions that mean_squared_error() leaves out
};

/// Returns the quality of each plane. The peak is the full scale of the format.
/// @throws InvalidArgument  the formats differ
[[nodiscard]] std::vector<PlaneQuality> compare_frames(const Frame& a, const Frame& b);

}  // namespace lull::tools
