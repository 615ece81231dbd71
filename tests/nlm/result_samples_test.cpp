// Results of non-local means whose bit depth is not that of the input.

#include <gtest/gtest.h>

#include "nlm/clips.h"
#include "support/precise_results.h"

namespace lull::nlm {
namespace {

using namespace test_support;

PreciseOpener opener(const Params& params, BackendKind kind) {
  return [=](const FrameFormat& format, const ResultSamples& samples) {
    return open(params, format, {.kind = kind, .threads = 2, .results = samples});
  };
}

constexpr BackendKind host_backends[] = {BackendKind::reference, BackendKind::cpu};

TEST(NlmResultSamples, PicturesAreRoundedOnce) {
  expect_rounded_once(opener(quick_params(), BackendKind::reference), pan(gray(), 1));
  const PreciseOpener open_on_cpu = opener(quick_params(), BackendKind::cpu);
  for (const FrameFormat& format : {gray(), colour(Layout::rgb), colour(Layout::yuv, 1, 1)}) {
    expect_rounded_once(open_on_cpu, pan(format, 1));
    expect_equal_to_16_bits(open_on_cpu, pan(format, 1));
  }
}

TEST(NlmResultSamples, ClipsAreRoundedOnce) {
  expect_rounded_once(opener(quick_params(1), BackendKind::cpu), pan(colour(Layout::yuv, 1, 1), 3));
}

TEST(NlmResultSamples, VolumesAreRoundedOnce) {
  for (const BackendKind kind : host_backends)
    expect_rounded_once(opener(quick_volume_params(), kind), volume(5, 0, SampleType::u8));
}

TEST(NlmResultSamples, FramesWithoutNoiseAreConverted) {
  for (const BackendKind kind : host_backends)
    for (Params params : {quick_params(), quick_volume_params()}) {
      params.noise = NoiseModel({0, 0, 0});
      expect_unfiltered(opener(params, kind), volume(3, 0, SampleType::u8));
    }
}

TEST(NlmResultSamples, UnfilteredSlicesAreConverted) {
  std::vector<Frame> slices = volume(4, 0, SampleType::u8);
  for (Frame& slice : slices) slice.mask = nothing_inside();
  const ResultSamples samples{.bits = 16, .full_range = true};
  const auto results = run_clip(
      *opener(quick_volume_params(), BackendKind::cpu)(slices.front().format, samples), slices);
  const auto expected = converted(slices, samples);
  for (std::size_t z = 0; z < slices.size(); ++z)
    EXPECT_TRUE(same_samples(results[z], expected[z]));
}

}  // namespace
}  // namespace lull::nlm
