#pragma once
// Clips with and without defects for the tests of repair.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "repair/defects.h"
#include "support/pictures.h"

namespace lull::repair::test_support {

inline constexpr int width = 160, height = 128, frames = 12;

/// A picture of one frame: the value at (x, y) on the 0..255 scale.
using Picture = std::function<double(int x, int y, int frame)>;

/// Returns a sample of a smooth picture that moves by two samples from frame to frame.
inline double moving_waves(int x, int y, int frame) {
  return 110 + 50 * std::sin((x + 2 * frame) / 9.0) + 30 * std::cos(y / 7.0);
}

struct Clip {
  std::vector<Frame> noisy;
  /// The first plane without noise and defects, on the 0..255 scale.
  std::vector<std::vector<double>> clean;

  std::vector<std::vector<Frame>> excerpts() const {
    std::vector<std::vector<Frame>> parts;
    for (std::size_t i = 0; i < noisy.size(); i += 3)
      parts.emplace_back(
          noisy.begin() + static_cast<std::ptrdiff_t>(i),
          noisy.begin() + static_cast<std::ptrdiff_t>(std::min(i + 3, noisy.size())));
    return parts;
  }
};

inline void set_sample(const Frame& frame, int plane, int x, int y, double value) {
  const double scaled = value / 255 * frame.format.full_scale();
  const double full = frame.format.full_scale();
  switch (frame.format.sample) {
    case SampleType::u8:
      frame.plane<std::uint8_t>(plane)(x, y) =
          static_cast<std::uint8_t>(std::clamp(std::round(scaled), 0.0, full));
      return;
    case SampleType::u16:
      frame.plane<std::uint16_t>(plane)(x, y) =
          static_cast<std::uint16_t>(std::clamp(std::round(scaled), 0.0, full));
      return;
    case SampleType::f32:
      frame.plane<float>(plane)(x, y) = static_cast<float>(scaled);
  }
}

inline double sample_of(const Frame& frame, int plane, int x, int y) {
  switch (frame.format.sample) {
    case SampleType::u8:
      return 255 * frame.plane<std::uint8_t>(plane)(x, y) / frame.format.full_scale();
    case SampleType::u16:
      return 255 * frame.plane<std::uint16_t>(plane)(x, y) / frame.format.full_scale();
    case SampleType::f32:
      break;
  }
  return 255 * static_cast<double>(frame.plane<float>(plane)(x, y)) / frame.format.full_scale();
}

inline FrameFormat gray_format() { return {.width = width, .height = height}; }

/// Makes a clip of a picture with white noise of deviation `sigma` in every plane.
inline Clip make_clip(const Picture& picture, double sigma, int count = frames,
                      FrameFormat format = gray_format()) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 1);
  Clip clip;
  for (int i = 0; i < count; ++i) {
    Frame frame = lull::test_support::make_frame(format);
    std::vector<double> clean;
    for (int plane = 0; plane < format.planes(); ++plane)
      for (int y = 0; y < format.plane_height(plane); ++y)
        for (int x = 0; x < format.plane_width(plane); ++x) {
          const double value = picture(x, y, i);
          if (plane == 0) clean.push_back(value);
          set_sample(frame, plane, x, y, value + sigma * noise(random));
        }
    clip.noisy.push_back(std::move(frame));
    clip.clean.push_back(std::move(clean));
  }
  return clip;
}

/// Replaces random samples by `low` and `high`, each with half of the density.
inline void add_impulses(Clip& clip, double density, double low, double high, int plane = 0) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const Frame& frame : clip.noisy)
    for (int y = 0; y < frame.format.plane_height(plane); ++y)
      for (int x = 0; x < frame.format.plane_width(plane); ++x) {
        const double at = uniform(random);
        if (at < density / 2) set_sample(frame, plane, x, y, low);
        if (at > 1 - density / 2) set_sample(frame, plane, x, y, high);
      }
}

/// Repairs copies of the frames with the defects that are found in the clip.
inline std::vector<Frame> repaired(const Clip& clip, const ClipDefects& defects) {
  std::vector<Frame> results;
  for (const Frame& noisy : clip.noisy) {
    Frame copy = lull::test_support::make_frame(noisy.format);
    for (int i = 0; i < noisy.format.planes(); ++i)
      for (int y = 0; y < noisy.planes[i].height; ++y)
        std::copy_n(noisy.planes[i].row(y), noisy.planes[i].width, copy.planes[i].row(y));
    (void)repair_in_place(defects, static_cast<std::int64_t>(results.size()), copy);
    results.push_back(std::move(copy));
  }
  return results;
}

/// Peak signal-to-noise ratio of the first plane.
inline double psnr(const Clip& clip, const std::vector<Frame>& results) {
  double squares = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < results.size(); ++i)
    for (int y = 0; y < results[i].format.height; ++y)
      for (int x = 0; x < results[i].format.width; ++x, ++count) {
        const double error =
            sample_of(results[i], 0, x, y) -
            clip.clean[i][static_cast<std::size_t>(y) * results[i].format.width + x];
        squares += error * error;
      }
  return 10 * std::log10(255.0 * 255.0 / (squares / static_cast<double>(count)));
}

}  // namespace lull::repair::test_support
