#pragma once
// Measures the difference of two pictures: mean squared error, PSNR and SSIM.

#include <array>
#include <vector>

#include "core/frame.h"
#include "core/image.h"

namespace lull::tools {

/// Returns the mean squared difference of two planes of equal size, at least 1x1. T is
/// std::uint8_t, std::uint16_t or float.
template <class T>
[[nodiscard]] double mean_squared_error(PlaneView<const T> a, PlaneView<const T> b);

/// Returns 10 log10(peak^2 / mse) in dB; infinity for mse = 0.
[[nodiscard]] double psnr(double mse, double peak);

/// Returns the Gaussian window of Wang 2004 along a side of `length` samples. The window has 11
/// weights with sigma 1.5. If the side has fewer than 11 samples, the window has `length` weights.
/// The sum of the weights is 1.
[[nodiscard]] std::vector<float> gaussian_window(int length);

/// Returns the SSIM of Wang 2004 (doi:10.1109/TIP.2003.819861), as the mean over all window
/// positions within the picture. The window is Gaussian with 11x11 samples and sigma 1.5, but not
/// larger than the picture. K1 = 0.01, K2 = 0.03, without downsampling.
template <class T>
[[nodiscard]] double ssim(PlaneView<const T> a, PlaneView<const T> b, double peak);

struct PlaneQuality {
  double mse = 0;   // in squared sample steps
  double psnr = 0;  // in dB
  double ssim = 0;
};

/// Returns the quality of each plane. The peak is the full scale of the format.
/// @throws InvalidArgument  the formats differ
[[nodiscard]] std::vector<PlaneQuality> compare_frames(const Frame& a, const Frame& b);

}  // namespace lull::tools
