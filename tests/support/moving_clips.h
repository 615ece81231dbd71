#pragma once
// Noisy clips with motion, for tests of temporal filtering on all backends.

#include <array>
#include <vector>

#include "support/pictures.h"

namespace lull::test_support {

inline constexpr float moving_sigma = 20;  // noise of the clips

/// The position of a frame in the complete picture, at most 40 samples to the right and 20 down.
using Path = std::array<int, 2> (*)(int n);

/// Sections of the texture picture along a path, with noise.
inline std::vector<Frame> noisy_views(const FrameFormat& format, int count, Path path) {
  std::vector<Frame> frames;
  for (int n = 0; n < count; ++n) {
    Frame frame = make_frame(format);
    const auto [left, top] = path(n);
    for (int i = 0; i < format.planes(); ++i) {
      const int w = format.plane_width(i), h = format.plane_height(i);
      const Plane<float> whole = texture_picture(w + 40, h + 20, i);
      Plane<float> part(w, h);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) part.view()(x, y) = whole.view()(x + left, y + top);
      store_plane(with_noise(part.view(), moving_sigma, 10 * n + i + 1).view(), frame, i);
    }
    frame.pts = n;
    frames.push_back(frame);
  }
  return frames;
}

inline std::vector<Frame> noisy_pan(const FrameFormat& format, int count) {
  return noisy_views(format, count, [](int n) { return std::array{2 * n, n}; });
}
/// Non-uniform motion.
inline std::vector<Frame> noisy_shake(const FrameFormat& format, int count) {
  return noisy_views(format, count, [](int n) { return std::array{(n * 7 + 3) % 11, n * 5 % 8}; });
}

}  // namespace lull::test_support
