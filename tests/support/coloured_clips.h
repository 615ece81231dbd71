#pragma once
// Float frames with coloured noise, and parameters that contain its spectrum.

#include <array>
#include <vector>

#include "bm3d/bm3d.h"
#include "support/coloured_noise.h"
#include "support/pictures.h"

namespace lull::test_support {

inline FrameFormat gray_floats(int width, int height) {
  return {.width = width, .height = height, .sample = SampleType::f32, .bits = 32};
}
inline FrameFormat rgb_floats(int width, int height) {
  FrameFormat format = gray_floats(width, height);
  format.layout = Layout::rgb;
  return format;
}
inline FrameFormat yuv420_floats(int width, int height) {
  FrameFormat format = gray_floats(width, height);
  format.layout = Layout::yuv;
  format.chroma_shift_x = format.chroma_shift_y = 1;
  return format;
}

/// Returns a still picture with noise like `like`, which is blurred horizontally.
inline std::vector<Frame> noisy_clip(int frames, int width, int height, const ColouredNoise& like) {
  const Plane<float> clean = texture_picture(width, height);
  std::vector<Frame> clip;
  for (int n = 0; n < frames; ++n) {
    const ColouredNoise noise = blurred_noise(width, height, like.sigma, true, false, 50 + n);
    const Plane<float> noisy = sum_of(clean.view(), noise.samples.view());
    clip.push_back(make_frame(gray_floats(width, height)));
    store_plane(noisy.view(), clip.back(), 0);
  }
  return clip;
}

inline bm3d::Params coloured_params(const ColouredNoise& noise, int temporal) {
  NoiseModel model(std::array<float, 3>{noise.sigma, 0, 0});
  model.plane(0).correlation = noise.correlation;
  bm3d::Params params = bm3d::make_params(bm3d::Profile::balanced, model, temporal);
  params.hard.window = params.wiener.window = 13;
  return params;
}

struct ColouredFrame {
  Frame frame;
  NoiseModel noise;
};
/// Three planes, each with its own noise.
inline ColouredFrame coloured_frame(const FrameFormat& format) {
  ColouredFrame result{make_frame(format), NoiseModel(std::array<float, 3>{18, 12, 15})};
  for (int i = 0; i < 3; ++i) {
    const int width = format.plane_width(i), height = format.plane_height(i);
    const ColouredNoise noise =
        i == 2 ? averaged_noise(width, height, 15, 3)
               : blurred_noise(width, height, result.noise.sigma(i), i == 0, i == 1, 7 + i);
    result.noise.plane(i).correlation = noise.correlation;
    store_plane(sum_of(texture_picture(width, height, i).view(), noise.samples.view()).view(),
                result.frame, i);
  }
  return result;
}

}  // namespace lull::test_support
