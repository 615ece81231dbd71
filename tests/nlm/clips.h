#pragma once
// Clips and volumes for the tests of non-local means sessions.

#include <memory>
#include <string>
#include <vector>

#include "core/slices.h"
#include "nlm/nlm.h"
#include "support/curved_noise.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::nlm::test_support {

using namespace lull::test_support;

inline constexpr int clip_width = 80, clip_height = 56;
inline constexpr float clip_sigma = 20;

inline FrameFormat gray(SampleType sample = SampleType::u8) {
  FrameFormat format{.width = clip_width, .height = clip_height, .sample = sample};
  if (sample == SampleType::f32) format.bits = 32, format.white = 255;
  return format;
}
inline FrameFormat colour(Layout layout, int shift_x = 0, int shift_y = 0) {
  return {.width = clip_width,
          .height = clip_height,
          .layout = layout,
          .chroma_shift_x = shift_x,
          .chroma_shift_y = shift_y};
}

/// Plane `plane` of frame `n` of a pan at (2, 0) samples per frame, which restarts after 30 frames.
inline Plane<float> clean_plane(const FrameFormat& format, int n, int plane) {
  const int w = format.plane_width(plane), h = format.plane_height(plane);
  const Plane<float> whole = texture_picture(w + 60, h, plane);
  const int x0 = 2 * (n % 31) >> (plane > 0 ? format.chroma_shift_x : 0);
  Plane<float> part(w, h);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) part.view()(x, y) = whole.view()(x + x0, y);
  return part;
}

inline Frame frame_of(const FrameFormat& format, int n, double sigma) {
  Frame frame = make_frame(format);
  for (int i = 0; i < format.planes(); ++i)
    store_plane(with_noise(clean_plane(format, n, i).view(), sigma, 100 * n + i + 1).view(), frame,
                i);
  frame.pts = 10 * n;
  return frame;
}

inline std::vector<Frame> pan(const FrameFormat& format, int count,
                              double sigma = static_cast<double>(clip_sigma)) {
  std::vector<Frame> frames;
  for (int n = 0; n < count; ++n) frames.push_back(frame_of(format, n, sigma));
  return frames;
}

inline Params clip_params(int temporal = 0) {
  return make_params(Profile::fast, NoiseModel({clip_sigma, clip_sigma, clip_sigma}), temporal);
}
/// Small parameters, so that the reference is fast.
inline Params quick_params(int temporal = 0) {
  Params params = clip_params(temporal);
  params.search_radius = 2;
  return params;
}
inline Params quick_volume_params() {
  return make_volume_params(Profile::balanced, NoiseModel({clip_sigma, clip_sigma, clip_sigma}));
}

/// Returns the frames of a pan as the slices of a volume.
inline std::vector<Frame> volume(int slices, int first = 0, SampleType sample = SampleType::f32) {
  FrameFormat format = gray(sample);
  format.width = 24, format.height = 20;
  std::vector<Frame> frames = pan(format, slices);
  for (int z = 0; z < slices; ++z) frames[z].slice = first + z;
  return frames;
}

/// Returns a mask that excludes a complete slice of a volume.
inline std::shared_ptr<const SliceMask> nothing_inside() {
  return std::make_shared<SliceMask>(24, 20, std::vector<bool>(24 * 20), false);
}

/// Returns noise in all planes that depends on the brightness and is clipped.
inline NoiseModel curved_noise() {
  NoiseModel noise;
  for (int i = 0; i < 3; ++i) noise.plane(i) = noise_of(clipped(poissonian(3, 100)));
  return noise;
}

inline std::vector<Frame> denoise(const Params& params, const std::vector<Frame>& frames,
                                  const Backend& backend = {.threads = 2}) {
  return run_clip(*open(params, frames.front().format, backend), frames);
}

/// PSNR of plane `plane` over all frames, against the pan without noise.
inline double clip_psnr(const std::vector<Frame>& frames, int plane = 0) {
  double sum = 0;
  for (std::size_t n = 0; n < frames.size(); ++n)
    sum += psnr(plane_of(frames[n], plane).view(),
                clean_plane(frames[n].format, static_cast<int>(n), plane).view());
  return sum / static_cast<double>(frames.size());
}

/// Returns the maximum difference between two results over all planes of all frames.
inline double max_difference(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  double most = a.size() == b.size() ? 0 : 1e9;
  for (std::size_t n = 0; n < a.size() && n < b.size(); ++n)
    for (int i = 0; i < a[n].format.planes(); ++i) {
      const Plane<float> p = plane_of(a[n], i), q = plane_of(b[n], i);
      for (int y = 0; y < p.height(); ++y)
        for (int x = 0; x < p.width(); ++x)
          most = std::max(most, static_cast<double>(std::abs(p.view()(x, y) - q.view()(x, y))));
    }
  return most;
}

inline bool same_clips(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t n = 0; n < a.size(); ++n)
    if (!same_samples(a[n], b[n])) return false;
  return true;
}

}  // namespace lull::nlm::test_support
