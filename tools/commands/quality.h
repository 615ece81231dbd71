#pragma once
// How much two pictures differ: mean squared error, PSNR and SSIM.

#include <array>
#include <vector>

#include "core/frame.h"
#include "core/image.h"

namespace lull::tools {

/// Mean squared difference. The planes have equal sizes, from 1x1.
/// T: std::uint8_t, std::uint16_t or float.
template <class T>
[[nodiscard]] double mean_squared_error(PlaneView<const T> a, PlaneView<const T> b);

/// 10 log10(peak^2 / mse) in dB; infinity for mse = 0.
[[nodiscard]] double psnr(double mse, double peak);

/// The Gaussian window of Wang 2004 along a side of `length` samples: 11 weights with sigma 1.5, or
/// as many as the side is long, whose sum is 1.
[[nodiscard]] std::vector<float> gaussian_window(int length);

/// Structural similarity, Wang 2004 (doi:10.1109/TIP.2003.819861): the mean over every place where
/// the 11x11 Gaussian window (sigma 1.5) lies within the picture, K1 = 0.01, K2 = 0.03, no
/// downsampling. Along a side of less than 11 samples the window is as long as the side.
/// The planes have equal sizes, from 1x1.
template <class T>
[[nodiscard]] double ssim(PlaneView<const T> a, PlaneView<const T> b, double peak);

struct PlaneQuality {
  double mse = 0;   // in squared steps of a sample
  double psnr = 0;  // dB
  double ssim = 0;
};

/// One entry for each plane. The peak is the format's largest value.
/// @throws InvalidArgument  the formats differ
[[nodiscard]] std::vector<PlaneQuality> compare_frames(const Frame& a, const Frame& b);

}  // namespace lull::tools
