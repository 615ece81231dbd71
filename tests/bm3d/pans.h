#pragma once
// Clips for temporal filtering.

#include <vector>

#include "core/samples.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {

/// Plane `plane` of frame `n` of a pan over the texture picture at (3, 1) samples per frame.
inline Plane<float> clean_plane(const FrameFormat& format, int n, int plane, double phase = 0) {
  const int w = format.plane_width(plane), h = format.plane_height(plane);
  const Plane<float> whole = test_support::texture_picture(w + 80, h + 40, phase + plane);
  const int x0 = 3 * n >> (plane > 0 ? format.chroma_shift_x : 0);
  const int y0 = n >> (plane > 0 ? format.chroma_shift_y : 0);
  Plane<float> part(w, h);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) part.view()(x, y) = whole.view()(x + x0, y + y0);
  return part;
}

inline constexpr float pan_sigma = 20;  // noise level on the 0..255 scale

inline Frame noisy_frame(const FrameFormat& format, int n, double phase = 0) {
  Frame frame = test_support::make_frame(format);
  for (int i = 0; i < format.planes(); ++i)
    store_plane(test_support::with_noise(clean_plane(format, n, i, phase).view(), pan_sigma,
                                         100 * n + i + 1)
                    .view(),
                frame, i);
  frame.pts = 10 * n;
  return frame;
}

inline std::vector<Frame> pan(const FrameFormat& format, int count, double phase = 0) {
  std::vector<Frame> frames;
  for (int n = 0; n < count; ++n) frames.push_back(noisy_frame(format, n, phase));
  return frames;
}

}  // namespace lull::bm3d
