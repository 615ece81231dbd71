#pragma once
// Loads and compares pictures for the programs of this folder, as floats on the 0..255 scale.

#include <cmath>
#include <string>

#include "bench/support/gaussian.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"
#include "io/media.h"

namespace lull::bench {

inline Frame float_frame(const FrameFormat& like, int width, int height) {
  FrameFormat format = like;
  format.width = width, format.height = height;
  format.sample = SampleType::f32, format.bits = 32, format.white = 255;
  return FramePool(format).acquire();
}

/// Returns the first frame of a file. With `luma`, the result is only the luma of R, G and B (ITU-R
/// BT.601); otherwise it has all planes.
inline Frame load_picture(const std::string& path, bool luma) {
  const auto source = io::open_source(path);
  const Frame frame = source->read().value();
  const FrameFormat& format = frame.format;
  Frame all = float_frame(format, format.width, format.height);
  for (int i = 0; i < format.planes(); ++i) load_plane(frame, i, all.plane<float>(i));
  if (!luma || format.layout == Layout::gray) return all;
  Frame grey = float_frame({}, format.width, format.height);
  for (int y = 0; y < format.height; ++y)
    for (int x = 0; x < format.width; ++x) {
      const auto at = [&](int i) { return all.plane<float>(i)(x, y); };
      grey.plane<float>(0)(x, y) =
          format.layout == Layout::rgb ? 0.299f * at(0) + 0.587f * at(1) + 0.114f * at(2) : at(0);
    }
  return grey;
}

/// Returns the picture with white Gaussian noise in every plane, neither rounded nor clipped.
inline Frame noisy(const Frame& clean, double sigma, Gaussian& gaussian) {
  Frame result = float_frame(clean.format, clean.format.width, clean.format.height);
  for (int i = 0; i < clean.format.planes(); ++i)
    for (int y = 0; y < clean.format.plane_height(i); ++y)
      for (int x = 0; x < clean.format.plane_width(i); ++x)
        result.plane<float>(i)(x, y) =
            clean.plane<float>(i)(x, y) + static_cast<float>(sigma * gaussian());
  return result;
}

/// Returns the PSNR over all planes in dB. The samples are limited to 0..255, as in a file.
inline double decibels(const Frame& a, const Frame& clean) {
  double sum = 0, count = 0;
  for (int i = 0; i < clean.format.planes(); ++i)
    for (int y = 0; y < clean.format.plane_height(i); ++y)
      for (int x = 0; x < clean.format.plane_width(i); ++x, ++count) {
        const double v = std::clamp(static_cast<double>(a.plane<float>(i)(x, y)), 0.0, 255.0);
        sum += std::pow(v - static_cast<double>(clean.plane<float>(i)(x, y)), 2);
      }
  return 10 * std::log10(255 * 255 * count / sum);
}

}  // namespace lull::bench
