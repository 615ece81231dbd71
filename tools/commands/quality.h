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

/// Returns the Gaussian window of Wang 2004 along a side of `length` samples: 11 weights with sigma
/// 1.5, or `length` weights if the side has fewer than 11 samples. The sum of the weights is 1.
[[nodiscard]] std::vector<float> gaussian_window(int length);

/// Returns the structural similarity of Wang 2004 (doi:10.1109/TIP.2003.819861): the mean over all
/// positions at which the 11x11 Gaussian window (sigma 1.5) lies within the picture, with K1 =
/// 0.01, K2 = 0.03 and without downsampling. Along a side of less than 11 samples, the window has
/// the length of the side. The planes must have equal sizes, at least 1x1.
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
