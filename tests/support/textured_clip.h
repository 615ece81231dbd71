#pragma once
// A short clip with and without noise, and the quality of a session's results.

#include <cstddef>
#include <vector>

#include "support/pictures.h"

namespace lull::test_support {

/// Frames whose texture moves slightly; all planes have noise of the same level.
struct TexturedClip {
  static constexpr double sigma = 20;
  std::vector<Frame> clean, noisy;

  TexturedClip(const FrameFormat& format, int frames) {
    for (int n = 0; n < frames; ++n) {
      clean.push_back(make_frame(format));
      noisy.push_back(make_frame(format));
      for (int i = 0; i < format.planes(); ++i) {
        const Plane<float> plane =
            texture_picture(format.plane_width(i), format.plane_height(i), 0.05 * n + i);
        store_plane(plane.view(), clean.back(), i);
        store_plane(with_noise(plane.view(), sigma, 10 * n + i + 1).view(), noisy.back(), i);
      }
    }
  }
  /// PSNR of plane `i` of a result of frame `n`, in dB.
  double quality(const Frame& result, std::size_t n, int i) const {
    return psnr(plane_of(result, i).view(), plane_of(clean[n], i).view());
  }
};

}  // namespace lull::test_support
