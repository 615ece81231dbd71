#pragma once
// Difference of two pictures: mean squared error, PSNR and SSIM.

#include <array>
#include <vector>

#include "core/frame.h"
#include "core/image.h"

namespace lull::tools {

/// Returns the mean squared difference. The planes must have equal sizes, at least 1x1. T:
/// std::uint8_t, std::uint16_t or float.
template <class T>
[[nodiscard]] double mean_squared_error(PlaneView<const T> a, PlaneView<const T> b);

/// Returns 10 log10(peak^2 / mse) in dB; infinity for mse = 0.
[[nodiscard]] double psnr(double mse, double peak);

/// Returns the Gaussian window of Wang 2004 along a side of `length` samples: 11 weights with sigma
/// 1.5, or `length` weights if the side is shorter. The sum of the weights is 1.
[[nodiscard]] std::vector<float> gaussian_window(int length);

/// Structural similarity, Wang 2004 (doi:10.1109/TIP.2003.819861): the mean over every place where
/// the 11x11 Gaussian window (sigma 1.5) lies within the picture, K1 = 0.01, K2 = 0.03, no
/// downsampling. Along a side of less than 11 samples the window is as long as the side.
/// The planes have equal sizes, from 1x1.
template <class T>
[[nodiscard]] double ssim(PlaneView<const T> a, PlaneView<const T> b, double peak);

struct PlaneQuality {
  double mse = 0;   // in squared steps of a sample
  double psnr = 0;  // in dB
  double ssim = 0;
};

/// Returns one entry per plane. The peak is the format's full scale.
/// @throws InvalidArgument  the formats differ
[[nodiscard]] std::vector<PlaneQuality> compare_frames(const Frame& a, const Frame& b);

}  // namespace lull::tools
