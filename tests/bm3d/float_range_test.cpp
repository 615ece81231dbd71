// Tests float samples outside the filter range (highlights, negative values, hot pixels, infinities
// and NaN) on every backend, in single frames and over time. These samples must be unchanged, and
// all other samples must be filtered as if there were no out-of-range samples.

#include "core/float_range.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "bm3d/bm3d.h"
#include "core/error.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

constexpr float sigma = 20;
constexpr float infinity = std::numeric_limits<float>::infinity();

FrameFormat floats(Layout layout, int width = 240, int height = 176) {
  return {
      .width = width, .height = height, .layout = layout, .sample = SampleType::f32, .bits = 32};
}

/// Returns a plane of a static clip, in which only the noise changes.
Plane<float> clean_plane(const FrameFormat& format, int plane) {
  return texture_picture(format.plane_width(plane), format.plane_height(plane), plane);
}

std::vector<Frame> noisy_clip(const FrameFormat& format, int frames) {
  std::vector<Frame> clip;
  for (int n = 0; n < frames; ++n) {
    clip.push_back(make_frame(format));
    for (int i = 0; i < format.planes(); ++i)
      store_plane(with_noise(clean_plane(format, i).view(), sigma, 100 * n + i + 1).view(),
                  clip.back(), i);
  }
  return clip;
}

std::uint32_t bits_of(float v) { return std::bit_cast<std::uint32_t>(v); }

/// The samples that a test case changes: their value and their positions.
struct OutOfRangeSamples {
  const char* name;
  float value;
  int radius;  // radius of a disc in samples; 0: one sample
  // `slow_too`: the case also runs on the slow reference backend.
  bool all_planes = true, slow_too = false;
  int step = 0;  // distance between repeated discs; 0: a single one near the middle

  bool holds(int plane, int x, int y) const {
    if (!all_planes && plane != 0) return false;
    const int dx = step > 0 ? x % step - step / 2 : x - 62;
    const int dy = step > 0 ? y % step - step / 2 : y - 50;
    return dx * dx + dy * dy <= radius * radius;
  }
};

const float odd_nan = std::bit_cast<float>(0xffc12345u);

const OutOfRangeSamples out_of_range_cases[] = {
    {"disc of 8", 8, 12, true, true},
    {"disc of 8 in one plane", 8, 8, false},
    {"disc of -3", -3, 9},
    {"pixel of 500", 500, 0, false, true},
    {"pixel of 65504", 65504, 0},
    {"pixels of 500", 500, 0, true, false, 11},
    {"infinity", infinity, 0, false},
    {"minus infinity", -infinity, 0},
    {"not a number", odd_nan, 0, false},
    {"disc that is not a number", odd_nan, 6, true, true},
};

std::vector<Frame> with(const OutOfRangeSamples& what, const std::vector<Frame>& clip) {
  std::vector<Frame> changed;
  for (const Frame& frame : clip) {
    Frame copy = make_frame(frame.format);
    for (int i = 0; i < frame.format.planes(); ++i) {
      copy_plane(frame, i, copy);
      for (int y = 0; y < frame.format.plane_height(i); ++y)
        for (int x = 0; x < frame.format.plane_width(i); ++x)
          if (what.holds(i, x, y)) copy.plane<float>(i)(x, y) = what.value;
    }
    changed.push_back(copy);
  }
  return changed;
}

/// PSNR of planes `first` to `last` of the frames over the samples that are in range.
double psnr_of_in_range_samples(const std::vector<Frame>& frames, int first, int last,
                                const OutOfRangeSamples& what) {
  double sum = 0, count = 0;
  for (const Frame& frame : frames)
    for (int i = first; i <= last; ++i) {
      const Plane<float> clean = clean_plane(frame.format, i), plane = plane_of(frame, i);
      for (int y = 0; y < plane.height(); ++y)
        for (int x = 0; x < plane.width(); ++x) {
          if (what.holds(i, x, y)) continue;
          const double d = static_cast<double>(plane.view()(x, y)) - clean.view()(x, y);
          sum += d * d, ++count;
        }
    }
  return 10 * std::log10(255.0 * 255.0 * count / sum);
}

struct Case {
  BackendKind backend;
  Layout layout;
  int temporal;
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const auto& [backend, layout, temporal] = info.param;
  return std::string(backend == BackendKind::reference ? "reference"
                     : backend == BackendKind::cpu     ? "cpu"
                                                       : "cuda") +
         (layout == Layout::gray ? "_grey" : "_rgb") + "_R" + std::to_string(temporal);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const BackendKind backend : {BackendKind::reference, BackendKind::cpu, BackendKind::cuda})
    for (const Layout layout : {Layout::gray, Layout::rgb})
      for (const int temporal : {0, 2}) all.push_back({backend, layout, temporal});
  return all;
}

class FloatRange : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    try {
      (void)open(params(sigma), floats(Layout::gray), backend());
    } catch (const DeviceUnavailable& error) {
      GTEST_SKIP() << error.what();
    }
  }
  static Backend backend() { return {.kind = GetParam().backend}; }
  /// These parameters are fast enough for the reference backend.
  static Params params(float s) {
    Params p = make_params(Profile::balanced, {s, s, s}, GetParam().temporal);
    if (GetParam().backend != BackendKind::reference) return p;
    p.hard.window = p.wiener.window = 11;
    p.hard.temporal_window = p.wiener.temporal_window = 5;
    return p;
  }
  static std::vector<Frame> run(const std::vector<Frame>& clip, float s = sigma) {
    return run_clip(*open(params(s), clip[0].format, backend()), clip);
  }
  static int frames() { return GetParam().temporal > 0 ? 3 : 1; }
  /// The reference backend is slow, so its frames are smaller.
  static FrameFormat format_of_frames() {
    if (GetParam().backend != BackendKind::reference) return floats(GetParam().layout);
    return floats(GetParam().layout, 160, 128);
  }
};

INSTANTIATE_TEST_SUITE_P(Bm3d, FloatRange, ::testing::ValuesIn(cases()), name_of);

TEST_P(FloatRange, OutOfRangeSamplesStayAndDoNotAffectOthers) {
  const FrameFormat format = format_of_frames();
  const std::vector<Frame> clip = noisy_clip(format, frames());
  const std::vector<Frame> expected = run(clip);
  for (const OutOfRangeSamples& what : out_of_range_cases) {
    if (GetParam().backend == BackendKind::reference && !what.slow_too) continue;
    SCOPED_TRACE(what.name);
    const std::vector<Frame> changed = with(what, clip), result = run(changed);
    ASSERT_EQ(result.size(), clip.size());
    for (std::size_t n = 0; n < result.size(); ++n)
      for (int i = 0; i < format.planes(); ++i)
        for (int y = 0; y < format.height; ++y)
          for (int x = 0; x < format.width; ++x)
            if (what.holds(i, x, y)) {
              ASSERT_EQ(bits_of(result[n].plane<float>(i)(x, y)),
                        bits_of(changed[n].plane<float>(i)(x, y)))
                  << "frame " << n << ", plane " << i << " at " << x << ", " << y;
            }
    const auto expect_within = [&](int first, int last, double loss) {
      EXPECT_GE(psnr_of_in_range_samples(result, first, last, what),
                psnr_of_in_range_samples(expected, first, last, what) - loss)
          << "planes " << first << " to " << last;
    };
    expect_within(0, format.planes() - 1, 0.05);
    // Values that are interpolated in one RGB channel affect the others by up to 0.056 dB here.
    for (int i = 0; i < format.planes(); ++i)
      expect_within(i, i, format.layout == Layout::rgb ? 0.08 : 0.05);
  }
}

// Nothing in such pictures is filtered, so nothing is changed.
TEST_P(FloatRange, PicturesFarOutOfRangeAreUnchanged) {
  for (const float level : {20.0f, 65504.0f, infinity, odd_nan}) {
    std::vector<Frame> clip = noisy_clip(floats(GetParam().layout, 48, 40), frames());
    for (const Frame& frame : clip)
      for (int i = 0; i < frame.format.planes(); ++i)
        for (int y = 0; y < 40; ++y)
          for (int x = 0; x < 48; ++x) frame.plane<float>(i)(x, y) += level;
    const std::vector<Frame> result = run(clip);
    for (std::size_t n = 0; n < clip.size(); ++n)
      EXPECT_TRUE(same_samples(result[n], clip[n])) << level;
  }
}

// With a suitable white level such pictures are filtered like other pictures. If all samples are
// multiplied by a power of two, the result is multiplied by it, too.
TEST_P(FloatRange, WhiteLevelScalesTheResult) {
  FrameFormat format = floats(GetParam().layout, 64, 48);
  const std::vector<Frame> clip = noisy_clip(format, frames()), expected = run(clip);
  format.white = 32;
  std::vector<Frame> bright;
  for (const Frame& frame : clip) {
    bright.push_back(make_frame(format));
    for (int i = 0; i < format.planes(); ++i)
      for (int y = 0; y < format.height; ++y)
        for (int x = 0; x < format.width; ++x)
          bright.back().plane<float>(i)(x, y) = 32 * frame.plane<float>(i)(x, y);
  }
  const std::vector<Frame> result = run(bright);
  for (std::size_t n = 0; n < clip.size(); ++n)
    for (int i = 0; i < format.planes(); ++i)
      for (int y = 0; y < format.height; ++y)
        for (int x = 0; x < format.width; ++x)
          ASSERT_EQ(result[n].plane<float>(i)(x, y), 32 * expected[n].plane<float>(i)(x, y));
}

// Noise around values near the limits of the range is removed as far as the range allows, without
// clipping, so the mean does not change. Slightly negative values are treated like other values.
TEST_P(FloatRange, NoiseNearTheRangeLimitsIsFilteredWithoutClipping) {
  struct {
    float level, left;  // left: upper bound of the remaining noise
  } const tries[] = {{-0.3f, 0.35f}, {1.2f, 0.35f}, {1.5f, 0.85f}, {1.65f, 1.01f}};
  for (const auto& [level, left] : tries) {
    const FrameFormat format = floats(GetParam().layout, 64, 48);
    Plane<float> flat(64, 48);
    for (int y = 0; y < 48; ++y) std::fill_n(flat.view().row(y), 64, 255 * level);
    std::vector<Frame> clip = noisy_clip(format, frames());
    for (std::size_t n = 0; n < clip.size(); ++n)
      for (int i = 0; i < format.planes(); ++i)
        store_plane(with_noise(flat.view(), sigma, 50 + 10 * n + i).view(), clip[n], i);
    const std::vector<Frame> result = run(clip);
    for (std::size_t n = 0; n < clip.size(); ++n)
      for (int i = 0; i < format.planes(); ++i) {
        const Plane<float> plane = plane_of(result[n], i);
        double sum = 0, squares = 0;
        for (int y = 0; y < 48; ++y)
          for (int x = 0; x < 64; ++x) {
            const double d = static_cast<double>(plane.view()(x, y)) - 255.0 * level;
            sum += d, squares += d * d;
          }
        EXPECT_LT(std::sqrt(squares / (64 * 48)), left * sigma) << level;
        EXPECT_NEAR(sum / (64 * 48), 0, 0.55 * sigma) << level;
      }
  }
}

// The session compares frames as bytes, and all values beyond white have the same byte.
TEST_P(FloatRange, DifferentBrightFramesAreNotRepeats) {
  for (const float base : {1.1f, 2.5f}) {
    std::vector<Frame> clip = noisy_clip(floats(GetParam().layout, 64, 48), 5);
    for (std::size_t n = 0; n < clip.size(); ++n)
      for (int i = 0; i < clip[n].format.planes(); ++i)
        for (int y = 0; y < 48; ++y)
          std::fill_n(clip[n].plane<float>(i).row(y), 64, base + 0.05f * static_cast<float>(n));
    const std::vector<Frame> result = run(clip);
    ASSERT_EQ(result.size(), clip.size());
    for (std::size_t n = 0; n < clip.size(); ++n)
      EXPECT_NEAR(result[n].plane<float>(0)(30, 20), base + 0.05f * static_cast<float>(n), 0.02f);
  }
}

TEST(WhiteLevel, RejectsNonPositiveAndNonFiniteValues) {
  for (const float white : {0.0f, -1.0f, infinity, odd_nan}) {
    FrameFormat format = floats(Layout::gray);
    format.white = white;
    EXPECT_THROW((void)open(make_params(Profile::fast, {10, 10, 10}), format,
                            {.kind = BackendKind::reference}),
                 InvalidArgument)
        << white;
  }
}

}  // namespace
}  // namespace lull::bm3d
