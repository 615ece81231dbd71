#pragma once
// Short clips with noise, for the tests of noise estimation.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "core/samples.h"
#include "noise/estimate/estimate_clip.h"
#include "support/coloured_noise.h"
#include "support/pictures.h"

namespace lull::clips {

inline constexpr int width = 224, height = 160;

/// Returns a plane with a texture of edges and slopes that moves by fractions of a sample,
/// different in each plane.
inline Plane<float> moving(int w, int h, double time, double phase = 0) {
  Plane<float> picture(w, h);
  for (int j = 0; j < h; ++j)
    for (int i = 0; i < w; ++i) {
      const double x = i + 1.37 * time, y = j + 0.61 * time;
      double v = 110 + 25 * std::sin(x * 0.043 + phase) + 20 * std::cos(y * 0.061 - x * 0.02);
      v += 18 * std::tanh(3 * std::sin(x * 0.05 + y * 0.09)) +
           10 * std::sin(x * 0.9 + y * 0.35) * (std::sin(x * 0.021) > 0.3);
      picture.view()(i, j) = static_cast<float>(v);
    }
  return picture;
}

inline FrameFormat grey(int w = width, int h = height) { return {.width = w, .height = h}; }
inline FrameFormat colour(Layout layout) {
  FrameFormat format = grey();
  format.layout = layout;
  if (layout == Layout::yuv) format.chroma_shift_x = format.chroma_shift_y = 1;
  return format;
}

/// Returns the noise-free content of plane `i` of frame number `time`.
using Scene = std::function<Plane<float>(int w, int h, int i, double time)>;
inline Plane<float> texture(int w, int h, int i, double time) {
  return moving(w, h, w < width ? time / 2 : time,
                i);  // half of the motion in chroma of half the size
}

/// A function that returns plane `i` with added noise.
using Noise = std::function<Plane<float>(PlaneView<const float>, int i, unsigned seed)>;
/// Returns `excerpts` excerpts of 3 frames, ten frames apart, in which `add` has added the noise.
inline std::vector<Excerpt> clip(const FrameFormat& format, const Noise& add,
                                 const Scene& scene = texture, int excerpts = 2) {
  std::vector<Excerpt> all;
  for (int l = 0; l < excerpts; ++l) {
    Excerpt excerpt;
    for (int f = 0; f < 3; ++f) {
      Frame frame = test_support::make_frame(format, 8);
      for (int i = 0; i < format.planes(); ++i) {
        const int w = format.plane_width(i), h = format.plane_height(i);
        const Plane<float> clean = scene(w, h, i, 10 * l + f);
        const auto seed = static_cast<unsigned>(100 * l + 10 * f + i + 1);
        store_plane(add(clean.view(), i, seed).view(), frame, i);
      }
      excerpt.push_back(frame);
    }
    all.push_back(excerpt);
  }
  return all;
}
inline Noise white(double sigma) {
  return [=](PlaneView<const float> clean, int, unsigned seed) {
    return test_support::with_noise(clean, sigma, seed);
  };
}
inline Noise blurred(float sigma) {
  return [=](PlaneView<const float> clean, int, unsigned seed) {
    const auto noise =
        test_support::blurred_noise(clean.width, clean.height, sigma, true, true, seed);
    return test_support::sum_of(clean, noise.samples.view());
  };
}

inline float sigma_of(const std::vector<Excerpt>& excerpts) {
  const ClipMeasurement measured = measure_clip(excerpts);
  EXPECT_TRUE(measured.found);
  const NoiseEstimate estimate = estimate_of(measured, excerpts[0][0].format.layout);
  EXPECT_TRUE(estimate.certain);
  EXPECT_TRUE(estimate.noise.plane(0).is_white());
  return estimate.noise.sigma(0);
}

/// Replaces all samples of the first plane of all frames, which have 8 bits, by `value(x, y, v)`.
inline void change_samples(std::vector<Excerpt>& excerpts,
                           const std::function<int(int x, int y, int v)>& value) {
  for (Excerpt& excerpt : excerpts)
    for (Frame& frame : excerpt) {
      const auto plane = frame.plane<std::uint8_t>(0);
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x)
          plane(x, y) = static_cast<std::uint8_t>(value(x, y, plane(x, y)));
    }
}

}  // namespace lull::clips
