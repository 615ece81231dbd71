// Results whose bit depth is not that of the input, on every backend.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bm3d/each_backend.h"
#include "support/precise_results.h"

namespace lull::bm3d {
namespace {

class Bm3dResultSamples : public EachBackend {
 protected:
  PreciseOpener opener(const Params& params) {
    return [params, backend = backend_](const FrameFormat& format, const ResultSamples& samples) {
      Backend precise = backend;
      precise.results = samples;
      return open(params, format, precise);
    };
  }
  static Params over_time(float sigma) {
    Params params = make_params(Profile::fast, {sigma, sigma, sigma}, 1);
    params.hard.window = 9;
    return params;
  }
  static std::vector<Frame> clip(const FrameFormat& format) {
    std::vector<Frame> frames;
    for (int n = 0; n < 4; ++n) {
      frames.push_back(n == 2 ? frames[1] : noisy_frame(format, 10 + n));  // frame 2 repeats 1
      frames.back().pts = n;
    }
    return frames;
  }
};

INSTANTIATE_TEST_SUITE_P(Bm3d, Bm3dResultSamples,
                         ::testing::Values(BackendKind::reference, BackendKind::cpu,
                                           BackendKind::cuda),
                         name_of_backend);

const FrameFormat formats[] = {gray(45, 37), yuv(50, 38, 1, 1), rgb(41, 35)};

TEST_P(Bm3dResultSamples, AreRoundedOnce) {
  for (const FrameFormat& format : formats)
    expect_rounded_once(opener(quick(10)), {noisy_frame(format, 10)});
}

TEST_P(Bm3dResultSamples, AreRoundedOnceOverTimeAndForRepeatedFrames) {
  for (const FrameFormat& format : {formats[0], formats[1]}) {
    expect_rounded_once(opener(over_time(10)), clip(format));
    const auto results = run_clip(*opener(over_time(10))(format, {.bits = 10}), clip(format));
    EXPECT_TRUE(same_samples(results[1], results[2]));
  }
}

TEST_P(Bm3dResultSamples, EqualThoseOfTheSameSamplesWith16Bits) {
  for (const FrameFormat& format : formats)
    expect_equal_to_16_bits(opener(quick(10)), {noisy_frame(format, 10)});
}

TEST_P(Bm3dResultSamples, PlanesWithoutNoiseAreConverted) {
  for (const FrameFormat& format : formats) {
    expect_unfiltered(opener(quick(0)), clip(format));
    Params params = quick(10);
    params.noise = NoiseModel({0, 10, 0});
    const std::vector<Frame> noisy{noisy_frame(format, 10)};
    if (format.planes() == 1) continue;
    const ResultSamples samples{.bits = 12, .full_range = true};
    const auto results = run_clip(*opener(params)(format, samples), noisy);
    const auto expected = converted(noisy, samples);
    EXPECT_TRUE(same_plane(results[0], expected[0], 0));
    EXPECT_TRUE(same_plane(results[0], expected[0], 2));
    EXPECT_FALSE(same_plane(results[0], expected[0], 1));
  }
}

// In full range, the sample values that correspond to 255 differ between luma and chroma.
TEST_P(Bm3dResultSamples, AreInputOfAnotherSession) {
  const FrameFormat format = result_format(yuv(50, 38, 1, 1), {.bits = 10, .full_range = true});
  ASSERT_NE(format.full_scale(0), format.full_scale(1));
  Frame flat = make_frame(format);
  for (int i = 0; i < format.planes(); ++i) {
    const PlaneView<std::uint16_t> plane = flat.plane<std::uint16_t>(i);
    for (int y = 0; y < plane.height; ++y) std::fill_n(plane.row(y), plane.width, 512);
  }
  const auto results = run_clip(*opener(quick(10))(format, {}), {flat});
  EXPECT_TRUE(same_samples(results.at(0), flat));
}

TEST_P(Bm3dResultSamples, FewerBitsThanTheInputAreRoundedOnce) {
  FrameFormat format = gray(40, 36, SampleType::u16, 12);
  const std::vector<Frame> noisy{noisy_frame(format, 10)};
  const auto open_precise = opener(quick(10));
  const auto precise = run_clip(*open_precise(format, {.bits = 16, .full_range = true}), noisy);
  const auto eight = run_clip(*open_precise(format, {.bits = 8, .full_range = true}), noisy);
  for_samples(eight, [&](std::size_t n, int i, int x, int y) {
    ASSERT_NEAR(integer_at(eight[n], i, x, y), integer_at(precise[n], i, x, y) / 257.0, 0.503);
  });
}

}  // namespace
}  // namespace lull::bm3d
