// Tests frames in GPU memory and results that stay in GPU memory: the samples must equal those of
// frames and results in host memory.

#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "nlm/clips.h"
#include "support/device_frames.h"
#include "support/gpu.h"
#include "support/precise_results.h"

namespace lull::nlm {
namespace {

using namespace test_support;

class NlmCudaResults : public lull::test_support::GpuTest {
 protected:
  static std::vector<Frame> run(const Params& params, const std::vector<Frame>& frames,
                                bool results_on_device) {
    return denoise(params, frames,
                   {.kind = BackendKind::cuda, .results_on_device = results_on_device});
  }

  static void expect_host_results(const Params& params, const std::vector<Frame>& noisy) {
    const std::vector<Frame> expected = run(params, noisy, false), there = uploaded(noisy);
    ASSERT_EQ(expected.size(), noisy.size());
    EXPECT_TRUE(same_clips(run(params, there, false), expected)) << "back on the host";
    for (const std::vector<Frame>& frames : {noisy, there}) {
      const std::vector<Frame> results = run(params, frames, true);
      ASSERT_EQ(results.size(), noisy.size());
      for (std::size_t k = 0; k < results.size(); ++k) {
        EXPECT_EQ(results[k].pts, noisy[k].pts);
        EXPECT_TRUE(same_samples(expected[k], downloaded(results[k]))) << "frame " << k;
      }
    }
  }

  static FrameFormat of(FrameFormat format, SampleType sample, int bits) {
    format.sample = sample, format.bits = bits;
    return format;
  }
};

const NoiseModel all_planes({20, 20, 20}), first_plane({20, 0, 0}), no_plane({0, 0, 0});

TEST_F(NlmCudaResults, PicturesEqualHostResults) {
  for (const int temporal : {0, 1})
    for (const FrameFormat& layout :
         {gray(), colour(Layout::rgb), colour(Layout::yuv), colour(Layout::yuv, 1, 1)})
      for (const auto& [sample, bits] :
           {std::pair{SampleType::u8, 8}, {SampleType::u16, 10}, {SampleType::f32, 32}})
        for (const NoiseModel& noise : {all_planes, first_plane, no_plane}) {
          SCOPED_TRACE("R " + std::to_string(temporal) + ", bits " + std::to_string(bits));
          expect_host_results(make_params(Profile::fast, noise, temporal),
                              pan(of(layout, sample, bits), 5));
        }
}

TEST_F(NlmCudaResults, VolumesEqualHostResults) {
  for (const FrameFormat& layout : {gray(), colour(Layout::rgb), colour(Layout::yuv, 1, 1)})
    for (const auto& [sample, bits] :
         {std::pair{SampleType::u8, 8}, {SampleType::u16, 16}, {SampleType::f32, 32}})
      for (const NoiseModel& noise : {all_planes, first_plane, no_plane}) {
        SCOPED_TRACE("bits " + std::to_string(bits));
        FrameFormat format = of(layout, sample, bits);
        format.width = 24, format.height = 20;
        expect_host_results(make_volume_params(Profile::balanced, noise), pan(format, 80));
      }
}

TEST_F(NlmCudaResults, MaskedVolumesEqualHostResults) {
  std::vector<Frame> noisy = volume(40);
  for (const int z : {0, 17, 39}) noisy[z].mask = nothing_inside();
  expect_host_results(quick_volume_params(), noisy);
}

TEST_F(NlmCudaResults, KeepNanAndOutOfRangeSamples) {
  for (const Params& params : {clip_params(), clip_params(1), quick_volume_params()}) {
    std::vector<Frame> noisy = volume(5);
    for (Frame& frame : noisy) {
      frame.plane<float>(0)(9, 9) = std::numeric_limits<float>::quiet_NaN();
      frame.plane<float>(0)(3, 9) = 7e7f;
    }
    expect_host_results(params, noisy);
    const std::vector<Frame> cuda = run(params, noisy, false), cpu = denoise(params, noisy);
    for (std::size_t k = 0; k < cuda.size(); ++k) {
      EXPECT_TRUE(std::isnan(cuda[k].plane<float>(0)(9, 9)));
      EXPECT_EQ(cuda[k].plane<float>(0)(3, 9), cpu[k].plane<float>(0)(3, 9));
    }
  }
}

TEST_F(NlmCudaResults, CurvedNoiseEqualsHostResults) {
  const NoiseModel noise = curved_noise();
  for (const FrameFormat& format : {gray(), colour(Layout::rgb)}) {
    for (const int temporal : {0, 1})
      expect_host_results(make_params(Profile::fast, noise, temporal), pan(format, 3));
    expect_host_results(make_volume_params(Profile::fast, noise), pan(format, 7));
  }
}

TEST_F(NlmCudaResults, GuidedFramesEqualHostResults) {
  std::vector<Params> all{clip_params(), clip_params(1), quick_volume_params()};
  for (Params& params : all)
    for (const FrameFormat& format : {gray(), colour(Layout::rgb), colour(Layout::yuv, 1, 1)}) {
      params.guided = true;
      std::vector<Frame> noisy = pan(format, 5);
      const std::vector<Frame> guides = pan(of(format, SampleType::u16, 12), 5, 4);
      for (std::size_t n = 0; n < noisy.size(); ++n)
        noisy[n].guide = std::make_shared<Frame>(guides[n]);
      expect_host_results(params, noisy);
    }
}

// The session must not overwrite the memory of a result that the caller still holds.
TEST_F(NlmCudaResults, StayValidAfterTheSession) {
  const std::vector<Frame> noisy = pan(gray(), 24);
  const std::vector<Frame> expected = run(clip_params(), noisy, false);
  const std::vector<Frame> results = run(clip_params(), noisy, true);  // the session is destroyed
  for (std::size_t k = 0; k < results.size(); ++k)
    EXPECT_TRUE(same_samples(expected[k], downloaded(results[k]))) << k;
}

TEST_F(NlmCudaResults, AreRoundedOnceToTheirBitDepth) {
  const auto opener = [](const Params& params) -> PreciseOpener {
    return [=](const FrameFormat& format, const ResultSamples& samples) {
      return open(params, format, {.kind = BackendKind::cuda, .results = samples});
    };
  };
  for (const FrameFormat& format : {gray(), colour(Layout::rgb), colour(Layout::yuv, 1, 1)}) {
    expect_rounded_once(opener(quick_params()), pan(format, 1));
    expect_rounded_once(opener(quick_params(1)), pan(format, 3));
    expect_equal_to_16_bits(opener(quick_params()), pan(format, 1));
  }
  const std::vector<Frame> slices = volume(5, 0, SampleType::u8);
  expect_rounded_once(opener(quick_volume_params()), slices);
  for (Params params : {quick_params(), quick_volume_params()}) {
    params.noise = no_plane;
    expect_unfiltered(opener(params), slices);
  }
}

}  // namespace
}  // namespace lull::nlm
