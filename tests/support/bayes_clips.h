#pragma once
// Clips and parameters for the tests of the Bayes phases on all backends.

#include <array>
#include <vector>

#include "bm3d/params.h"
#include "support/pictures.h"

namespace lull::bm3d {

inline constexpr float bayes_sigma = 20;

/// Small parameters, which are fast enough for the reference backend.
inline Params small_best(int temporal, float sigma = bayes_sigma) {
  Params params = make_params(Profile::best, {sigma, sigma, sigma}, temporal);
  for (PhaseParams* phase : {&params.hard, &params.wiener}) {
    phase->window = 9;
    phase->temporal_window = 5;
    phase->step = 6;
  }
  params.search_step = 12;
  for (BayesParams& phase : params.bayes_phases) {
    phase.window = 7, phase.temporal_window = 3;
    phase.step = 8;
  }
  return params;
}

/// The position of a frame in the complete picture, at most 40 samples to the right and 20 down.
using Path = std::array<int, 2> (*)(int n);

/// Sections of the texture picture along a path, with noise.
inline std::vector<Frame> noisy_views(const FrameFormat& format, int count, Path path) {
  std::vector<Frame> frames;
  for (int n = 0; n < count; ++n) {
    Frame frame = test_support::make_frame(format);
    const auto [left, top] = path(n);
    for (int i = 0; i < format.planes(); ++i) {
      const int w = format.plane_width(i), h = format.plane_height(i);
      const Plane<float> whole = test_support::texture_picture(w + 40, h + 20, i);
      Plane<float> part(w, h);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) part.view()(x, y) = whole.view()(x + left, y + top);
      store_plane(test_support::with_noise(part.view(), bayes_sigma, 10 * n + i + 1).view(), frame,
                  i);
    }
    frame.pts = n;
    frames.push_back(frame);
  }
  return frames;
}

inline std::vector<Frame> noisy_pan(const FrameFormat& format, int count) {
  return noisy_views(format, count, [](int n) { return std::array{2 * n, n}; });
}
/// Non-uniform motion, which the second halves of patches have to follow.
inline std::vector<Frame> noisy_shake(const FrameFormat& format, int count) {
  return noisy_views(format, count, [](int n) { return std::array{(n * 7 + 3) % 11, n * 5 % 8}; });
}

}  // namespace lull::bm3d
