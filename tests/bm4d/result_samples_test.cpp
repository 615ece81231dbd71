// Results of BM4D whose bit depth is not that of the input.

#include <gtest/gtest.h>

#include <vector>

#include "bm4d/volumes.h"
#include "support/precise_results.h"

namespace lull::bm4d {
namespace {

using namespace test_support;

PreciseOpener opener(const Params& params, BackendKind kind) {
  return [=](const FrameFormat& format, const ResultSamples& samples) {
    return open(params, format, {.kind = kind, .threads = 1, .results = samples});
  };
}

std::vector<Frame> byte_slices(Layout layout) {
  const FrameFormat format{.width = 21, .height = 18, .layout = layout};
  std::vector<Frame> slices;
  for (int z = 0; z < 7; ++z) {
    Frame slice = make_frame(format);
    for (int i = 0; i < format.planes(); ++i)
      store_plane(with_noise(texture_picture(21, 18, i).view(), 15, 10 * z + i).view(), slice, i);
    slice.slice = z;
    slice.pts = z;
    slices.push_back(slice);
  }
  return slices;
}

constexpr BackendKind host_backends[] = {BackendKind::reference, BackendKind::cpu};

TEST(Bm4dResultSamples, AreRoundedOnce) {
  for (const BackendKind kind : host_backends)
    for (const Layout layout : {Layout::gray, Layout::rgb}) {
      expect_rounded_once(opener(small_params(15), kind), byte_slices(layout));
      expect_equal_to_16_bits(opener(small_params(15), kind), byte_slices(layout));
    }
}

TEST(Bm4dResultSamples, PlanesWithoutNoiseAreConverted) {
  for (const BackendKind kind : host_backends) {
    expect_unfiltered(opener(small_params(0), kind), byte_slices(Layout::rgb));
    Params params = small_params(15);
    params.noise = NoiseModel({0, 15, 0});
    const std::vector<Frame> noisy = byte_slices(Layout::rgb);
    const ResultSamples samples{.bits = 10, .full_range = true};
    const auto results = run_clip(*opener(params, kind)(noisy.front().format, samples), noisy);
    const auto expected = converted(noisy, samples);
    for (std::size_t z = 0; z < noisy.size(); ++z) {
      EXPECT_TRUE(same_plane(results[z], expected[z], 0));
      EXPECT_FALSE(same_plane(results[z], expected[z], 1));
    }
  }
}

}  // namespace
}  // namespace lull::bm4d
