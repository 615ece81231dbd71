#pragma once
// Checks that sessions round once, from floats to the samples of their results.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/frame_pool.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::test_support {

/// Opens a session for frames of a format whose results have the given samples.
using PreciseOpener =
    std::function<std::unique_ptr<Denoiser>(const FrameFormat&, const ResultSamples&)>;

inline int integer_at(const Frame& frame, int i, int x, int y) {
  return frame.format.sample == SampleType::u8 ? frame.plane<std::uint8_t>(i)(x, y)
                                               : frame.plane<std::uint16_t>(i)(x, y);
}

/// Calls use(frame number, plane, x, y) for all samples.
template <class Use>
void for_samples(const std::vector<Frame>& frames, Use use) {
  for (std::size_t n = 0; n < frames.size(); ++n)
    for (int i = 0; i < frames[n].format.planes(); ++i)
      for (int y = 0; y < frames[n].format.plane_height(i); ++y)
        for (int x = 0; x < frames[n].format.plane_width(i); ++x) use(n, i, x, y);
}

/// Returns the frames converted to `format` without a filter.
inline std::vector<Frame> converted(const std::vector<Frame>& frames, const FrameFormat& format) {
  std::vector<Frame> out;
  FramePool pool(format);
  for (const Frame& frame : frames) out.push_back(copied(frame, pool));
  return out;
}
inline std::vector<Frame> converted(const std::vector<Frame>& frames,
                                    const ResultSamples& samples) {
  return converted(frames, result_format(frames.front().format, samples));
}

/// Returns the share of the samples that differ by more than `limit`.
inline double share_of_differences(const std::vector<Frame>& a, const std::vector<Frame>& b,
                                   int limit) {
  double differing = 0, count = 0;
  for_samples(a, [&](std::size_t n, int i, int x, int y) {
    differing += std::abs(integer_at(a[n], i, x, y) - integer_at(b.at(n), i, x, y)) > limit;
    ++count;
  });
  return differing / count;
}

/// Checks results of all bit depths for `noisy`, frames of 8 bits. A session with equal input must
/// compute equal floats.
inline void expect_rounded_once(const PreciseOpener& open, const std::vector<Frame>& noisy) {
  const FrameFormat& format = noisy.front().format;
  for (const bool full : {false, true}) {
    const auto results = [&](const ResultSamples& samples) {
      std::vector<Frame> frames = run_clip(*open(format, samples), noisy);
      EXPECT_EQ(frames.size(), noisy.size());
      for (const Frame& frame : frames) EXPECT_EQ(frame.format, result_format(format, samples));
      return frames;
    };
    const std::vector<Frame> precise = results({.bits = 16, .full_range = full});
    double fractions = 0;
    for_samples(precise, [&](std::size_t n, int i, int x, int y) {
      fractions += integer_at(precise[n], i, x, y) %
                       static_cast<int>(precise[n].format.full_scale(i) / 255) !=
                   0;
    });
    EXPECT_GT(fractions, 0) << "all results are samples of 8 bits";
    for (const int bits : {8, 10, 12}) {
      const ResultSamples samples{.bits = bits, .full_range = full};
      const std::vector<Frame> rounded = results(samples);
      // The precise result is rounded to 1/257 of a level, so ties may go to either side.
      for_samples(rounded, [&](std::size_t n, int i, int x, int y) {
        const double unit = precise[n].format.full_scale(i) / rounded[n].format.full_scale(i);
        const double expected = integer_at(precise[n], i, x, y) / unit;
        const double max = rounded[n].format.max_value();
        ASSERT_LE(std::abs(integer_at(rounded[n], i, x, y) - std::min(expected, max)),
                  0.5 + 0.6 / unit)
            << bits << " bits, plane " << i << " at " << x << ", " << y;
      });
    }
    for (const Dither dither : {Dither::ordered, Dither::noise}) {
      const ResultSamples samples{.bits = 8, .full_range = full, .dither = dither};
      const std::vector<Frame> dithered = results(samples);
      const std::vector<Frame> expected = converted(precise, result_format(format, samples));
      EXPECT_LE(share_of_differences(dithered, expected, 0), 0.02);
      EXPECT_LE(share_of_differences(dithered, expected, 1), 0.0);
      EXPECT_GT(share_of_differences(dithered, results({.bits = 8}), 0), 0.1);
    }
  }
}

/// Checks that frames of 8 bits give the results of the same samples with 16 bits.
inline void expect_equal_to_16_bits(const PreciseOpener& open, const std::vector<Frame>& noisy) {
  const ResultSamples ten{.bits = 10, .full_range = true};
  std::vector<Frame> wide = noisy;
  for (Frame& frame : wide) {
    FramePool pool({.width = frame.format.width,
                    .height = frame.format.height,
                    .layout = frame.format.layout,
                    .sample = SampleType::u16,
                    .bits = 16,
                    .chroma_shift_x = frame.format.chroma_shift_x,
                    .chroma_shift_y = frame.format.chroma_shift_y});
    Frame copy = pool.acquire();
    copy.copy_info(frame);
    for (int i = 0; i < frame.format.planes(); ++i)
      for (int y = 0; y < frame.format.plane_height(i); ++y)
        for (int x = 0; x < frame.format.plane_width(i); ++x)
          copy.plane<std::uint16_t>(i)(x, y) =
              static_cast<std::uint16_t>(257 * frame.plane<std::uint8_t>(i)(x, y));
    frame = copy;
  }
  std::vector<Frame> a = run_clip(*open(noisy.front().format, ten), noisy);
  const std::vector<Frame> b = run_clip(*open(wide.front().format, ten), wide);
  ASSERT_EQ(a.size(), b.size());
  // The floats of both inputs differ in their last bit. Chroma of the full range is scaled by 1020
  // and 1023.
  const bool chroma = noisy.front().format.layout == Layout::yuv;
  EXPECT_LE(share_of_differences(a, b, chroma ? 4 : 1), 0.001);
}

/// Checks a clip whose noise level is 0 in all planes, and frames that repeat others.
inline void expect_unfiltered(const PreciseOpener& open_without_noise,
                              const std::vector<Frame>& frames) {
  for (const ResultSamples& samples :
       {ResultSamples{.bits = 10}, ResultSamples{.bits = 16, .full_range = true},
        ResultSamples{.bits = 8, .dither = Dither::noise}}) {
    const auto session = open_without_noise(frames.front().format, samples);
    const std::vector<Frame> results = run_clip(*session, frames);
    const std::vector<Frame> expected = converted(frames, samples);
    ASSERT_EQ(results.size(), frames.size());
    for (std::size_t n = 0; n < frames.size(); ++n) {
      EXPECT_EQ(results[n].format, expected[n].format);
      EXPECT_EQ(results[n].pts, frames[n].pts);
      EXPECT_TRUE(same_samples(results[n], expected[n])) << samples.bits << " bits";
    }
  }
}

}  // namespace lull::test_support
