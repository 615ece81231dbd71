// Tests the cuda backend: its filters are compared with those of the reference backend, and its
// sessions with those of the cpu backend.

#include <gtest/gtest.h>

#include "core/error.h"
#include "nlm/clips.h"
#include "nlm/cuda_engines.h"
#include "nlm/engines.h"
#include "pipeline/part_scheduler.h"
#include "support/gpu.h"

namespace lull::nlm {
namespace {

using namespace test_support;

/// The tolerance covers sums of floats in another order.
constexpr double float_tolerance = 0.02;
/// The kernels use half precision: weights, which are eighth powers of values with 11 bits, have
/// errors of up to some percent, and the means of differences of some sigma (20) have errors of a
/// fraction of that.
constexpr double half_tolerance = 2;

class NlmCuda : public lull::test_support::GpuTest {
 protected:
  static void expect_reference_result(const FramePlan& plan, double tolerance,
                                      const std::string& what,
                                      const std::vector<std::vector<Motion>>& motion = {}) {
    const auto expected = run_frames(*make_reference_frame_engine(plan), plan, motion);
    EXPECT_LT(max_difference(expected, run_frames(*make_cuda_frame_engine(plan), plan, motion)),
              tolerance)
        << what;
  }
  static std::string size_name(int width, int height) {
    return std::to_string(width) + "x" + std::to_string(height);
  }
};

/// Returns true if the plane's kernel uses half precision.
bool uses_half_precision(const Params& p) {
  return p.block == 4 && p.patch_radius == 0 && p.step <= 2 && p.weights == Weights::polynomial;
}

// The check must run before any call of the device.
TEST(NlmCudaPlan, RejectsPlanesThatKernelsCannotAddress) {
  const Params params = make_params(Profile::balanced, NoiseModel({20, 20, 20}));
  EXPECT_NO_THROW(cuda::require_addressable(params, {.width = 16384, .height = 16384}));
  EXPECT_THROW(cuda::require_addressable(params, {.width = 65536, .height = 32768}),
               InvalidArgument);
}

TEST(NlmCudaPlan, RejectsStepsAboveTheMotionBlocksOfChroma) {
  Params params = make_params(Profile::balanced, NoiseModel({20, 20, 20}));
  FrameFormat format{.width = 64, .height = 64, .layout = Layout::yuv, .chroma_shift_x = 3};
  EXPECT_NO_THROW(cuda::require_addressable(params, format));
  params.block = params.step = 8;
  EXPECT_THROW(cuda::require_addressable(params, format), InvalidArgument);
  format.chroma_shift_x = 2;
  EXPECT_NO_THROW(cuda::require_addressable(params, format));
  format.chroma_shift_y = 4;
  params.block = params.step = 4;
  EXPECT_THROW(cuda::require_addressable(params, format), InvalidArgument);
  params.noise = NoiseModel({20, 0, 0});
  EXPECT_NO_THROW(cuda::require_addressable(params, format));
}

TEST_F(NlmCuda, FramesMatchTheReference) {
  for (const NamedParams& p : picture_params())
    expect_reference_result(frame_plan(p.params, 67, 21),
                            uses_half_precision(p.params) ? half_tolerance : float_tolerance,
                            p.name);
}

TEST_F(NlmCuda, FewerFramesNeedNoFurtherMemory) {
  for (const int search : {2, 5}) {
    Params params = quick_params(max_temporal);
    params.search_radius = search;
    cuda::TilesPlan plan =
        cuda::plan_tiles(params, cuda::Space(3840, 2160, params.reach() + 1), 1, 1);
    cuda::Workspaces workspaces;
    workspaces.reserve(plan, max_frames);
    const std::size_t floats = workspaces.count() * plan.workspace(max_frames);
    for (int frames = max_frames - 1; frames > 0; --frames) {
      workspaces.reserve(plan, frames);
      EXPECT_GE(workspaces.count(), 1);
      EXPECT_LE(workspaces.count() * plan.workspace(frames), floats)
          << frames << " frames, a search radius of " << search;
    }
  }
}

TEST_F(NlmCuda, WeakNoiseUsesSinglePrecision) {
  for (const std::size_t which : {0, 6}) {
    FramePlan plan = frame_plan(picture_params()[which].params, 67, 21);
    plan.guide_weight[0] = 1 / (0.9f * 0.9f);
    plan.params.h = 20;  // the same strength as with the other sigma
    expect_reference_result(plan, float_tolerance, picture_params()[which].name);
  }
}

TEST_F(NlmCuda, PatchesWithHolesAreNotCandidates) {
  const Holes holes = some_holes(47, 19);
  for (const NamedParams& p : picture_params())
    for (const int frames : {1, 2}) {
      FramePlan plan = frame_plan(p.params, 47, 19, 1, 1, true, frames);
      plan.params.search_radius = 2;
      plan.params.holes = true;
      const auto expected = run_frames(*make_reference_frame_engine(plan), plan, {}, &holes);
      const auto cuda = run_frames(*make_cuda_frame_engine(plan), plan, {}, &holes);
      EXPECT_LT(max_difference(expected, cuda), float_tolerance)
          << p.name << ", frames: " << frames;
    }
}

TEST_F(NlmCuda, FramesOfAnySizeMatchTheReference) {
  for (const std::size_t which : {0, 5, 6, 11}) {
    Params params = picture_params()[which].params;
    params.search_radius = 2;
    for (const int width : {1, 2, 3, 27, 63, 131})
      for (const int height : {1, 5, 18})
        expect_reference_result(frame_plan(params, width, height),
                                uses_half_precision(params) ? half_tolerance : float_tolerance,
                                picture_params()[which].name + ", " + size_name(width, height));
  }
}

TEST_F(NlmCuda, LargeFramesAreTransferredInPieces) {
  Params params = picture_params()[11].params;
  params.search_radius = params.patch_radius = 1;
  expect_reference_result(frame_plan(params, 1027, 1033), float_tolerance,
                          "more than a buffer holds");
}

TEST_F(NlmCuda, EveryPatchRadiusMatchesTheReference) {
  Params params = picture_params()[11].params;
  params.search_radius = 2;
  for (const int radius : {1, 2, 3, 4, 5}) {
    params.patch_radius = radius;
    for (const Weights weights : {Weights::exponential, Weights::polynomial}) {
      params.weights = weights;
      for (const int planes : {1, 3})
        expect_reference_result(frame_plan(params, 41, 19, planes, planes), float_tolerance,
                                "radius " + std::to_string(radius));
    }
  }
}

TEST_F(NlmCuda, PlanesShareTheWeightsOfTheirGuides) {
  for (const std::size_t which : {0, 10, 11}) {
    const Params p = picture_params()[which].params;
    expect_reference_result(frame_plan(p, 37, 21, 3, 3), float_tolerance, "jointly");
    expect_reference_result(frame_plan(p, 37, 21, 2, 2), float_tolerance, "two");
    expect_reference_result(frame_plan(p, 37, 21, 3, 1), float_tolerance, "by the first");
    expect_reference_result(frame_plan(p, 37, 21, 2, 3, false), float_tolerance, "by others");
    expect_reference_result(frame_plan(p, 37, 21, 1, 1, false), float_tolerance, "by another");
  }
}

TEST_F(NlmCuda, CandidatesInOtherFramesFollowTheMotionOfEachCell) {
  for (const std::size_t which : {0, 4, 10}) {
    FramePlan plan = frame_plan(picture_params()[which].params, 70, 45, 1, 1, true, 3);
    const std::vector<std::vector<Motion>> motion{
        {}, {{2, 0}, {-3, 1}, {-4, 2}, {0, -5}, {1, 0}, {-2, -1}}, {{4, -1}, {}, {}, {}, {}, {}}};
    expect_reference_result(plan, float_tolerance, "motion", motion);
    expect_reference_result(plan, float_tolerance, "none");
    plan.shift_x = plan.shift_y = 1;  // the planes have half the size
    plan.width = 35, plan.height = 23;
    expect_reference_result(plan, float_tolerance, "smaller cells", motion);
  }
}

TEST_F(NlmCuda, VolumesMatchTheReference) {
  std::vector<NamedParams> all = volume_params();
  Params exponential = all[0].params;
  exponential.weights = Weights::exponential;
  all.push_back({"exponential, with the mean term", exponential});
  for (const NamedParams& p : all)
    for (const bool itself : {true, false})
      for (const int slices : {1, 2, 7}) {
        const VolumePlan plan{p.params, 21, 11, 1 / (test_sigma * test_sigma), itself};
        const bool halves = itself && p.params.block == 1 && p.params.patch_radius == 1;
        const auto cuda = make_cuda_volume_engine(plan);
        const auto expected = run_volume(*make_reference_volume_engine(plan), plan, 3, slices, 1);
        EXPECT_LT(
            max_difference(expected, run_volume(*cuda, plan, 3, slices, cuda->slices_at_a_time())),
            halves ? half_tolerance : float_tolerance)
            << p.name << ", slices: " << slices << (itself ? "" : ", by another");
      }
}

TEST_F(NlmCuda, VolumesOfAnySizeAndWindowMatchTheReference) {
  Params params = volume_params()[0].params;
  for (const int search : {1, 3, 4}) {
    params.search_radius = search;
    for (const auto& [width, height, slices] :
         {std::array{1, 1, 1}, {2, 5, 3}, {31, 2, 9}, {33, 17, 2}}) {
      for (const float sigma : {test_sigma, 0.9f}) {
        VolumePlan plan{params, width, height, 1 / (sigma * sigma)};
        if (sigma < 1) plan.params.h = 20;  // single precision, with the same strength
        const auto cuda = make_cuda_volume_engine(plan);
        const auto expected = run_volume(*make_reference_volume_engine(plan), plan, 0, slices, 1);
        EXPECT_LT(
            max_difference(expected, run_volume(*cuda, plan, 0, slices, cuda->slices_at_a_time())),
            sigma < 1 ? float_tolerance : half_tolerance)
            << size_name(width, height) << "x" << slices << ", search " << search;
      }
    }
  }
}

TEST_F(NlmCuda, RepeatedRunsGiveEqualBytes) {
  for (const std::size_t which : {0, 5, 6, 11}) {
    const FramePlan plan = frame_plan(picture_params()[which].params, 150, 90);
    const auto engine = make_cuda_frame_engine(plan);
    const auto first = run_frames(*engine, plan);
    EXPECT_EQ(max_difference(first, run_frames(*engine, plan)), 0);
    EXPECT_EQ(max_difference(first, run_frames(*make_cuda_frame_engine(plan), plan)), 0);
  }
}

TEST_F(NlmCuda, SliceBatchesDoNotChangeResult) {
  for (const int search : {2, 4})
    for (const float sigma : {test_sigma, 0.9f}) {
      Params params = volume_params()[0].params;
      params.search_radius = search;
      if (sigma < 1) params.h = 20;
      const VolumePlan plan{params, 35, 20, 1 / (sigma * sigma)};
      const int most = make_cuda_volume_engine(plan)->slices_at_a_time();
      const auto whole = run_volume(*make_cuda_volume_engine(plan), plan, 0, 40, most);
      for (const int together : {1, 3, 8, 17}) {
        if (together >= most) continue;
        EXPECT_EQ(max_difference(whole,
                                 run_volume(*make_cuda_volume_engine(plan), plan, 0, 40, together)),
                  0)
            << together;
      }
    }
}

TEST_F(NlmCuda, SessionsMatchTheQualityOfTheHost) {
  for (const FrameFormat& format :
       {gray(), gray(SampleType::f32), colour(Layout::rgb), colour(Layout::yuv, 1, 1)})
    for (const Profile profile :
         {Profile::fast, Profile::balanced, Profile::high, Profile::paper}) {
      const std::vector<Frame> noisy = pan(format, 1);
      const Params params = make_params(profile, NoiseModel({clip_sigma, clip_sigma, clip_sigma}));
      const std::vector<Frame> cpu = denoise(params, noisy),
                               cuda = denoise(params, noisy, {.kind = BackendKind::cuda});
      for (int i = 0; i < format.planes(); ++i)
        EXPECT_NEAR(clip_psnr(cpu, i), clip_psnr(cuda, i), 0.02) << "plane " << i;
    }
}

/// Returns the difference in quality between the two results in the plane with the largest
/// difference.
double quality_gap(const Params& params, const std::vector<Frame>& noisy) {
  const std::vector<Frame> cpu = denoise(params, noisy),
                           cuda = denoise(params, noisy, {.kind = BackendKind::cuda});
  double gap = 0;
  for (int i = 0; i < noisy[0].format.planes(); ++i)
    gap = std::max(gap, std::abs(clip_psnr(cpu, i) - clip_psnr(cuda, i)));
  return gap;
}

TEST_F(NlmCuda, TemporalSessionsMatchTheQualityOfTheHost) {
  for (const FrameFormat& format : {gray(), colour(Layout::rgb), colour(Layout::yuv, 1, 1)}) {
    std::vector<Frame> noisy = pan(format, 5);
    EXPECT_LT(quality_gap(clip_params(1), noisy), 0.02);
    noisy.insert(noisy.begin() + 2, noisy[1]);  // repeats the previous frame
    const std::vector<Frame> cpu = denoise(clip_params(2), noisy),
                             cuda = denoise(clip_params(2), noisy, {.kind = BackendKind::cuda});
    ASSERT_EQ(cuda.size(), noisy.size());
    EXPECT_TRUE(same_samples(cuda[1], cuda[2]));
    for (std::size_t n = 0; n < cpu.size(); ++n)
      for (int i = 0; i < format.planes(); ++i)
        EXPECT_GT(psnr(plane_of(cpu[n], i).view(), plane_of(cuda[n], i).view()), 45)
            << "frame " << n << ", plane " << i;
  }
}

TEST_F(NlmCuda, GuidedSessionsMatchTheQualityOfTheHost) {
  Params params = clip_params(1);
  params.guided = true;
  for (const FrameFormat& format : {gray(), colour(Layout::rgb), colour(Layout::yuv, 1, 1)}) {
    std::vector<Frame> noisy = pan(format, 3);
    const std::vector<Frame> guides = pan(format, 3, 4);
    for (std::size_t n = 0; n < noisy.size(); ++n)
      noisy[n].guide = std::make_shared<Frame>(guides[n]);
    EXPECT_LT(quality_gap(params, noisy), 0.02);
  }
}

TEST_F(NlmCuda, SessionsWithCurvedNoiseMatchTheQualityOfTheHost) {
  for (const FrameFormat& format : {gray(), colour(Layout::rgb)})
    for (const int temporal : {0, 1})
      EXPECT_LT(quality_gap(make_params(Profile::fast, curved_noise(), temporal), pan(format, 3)),
                0.02);
}

TEST_F(NlmCuda, PartsMatchTheCompleteVolume) {
  const Params params = quick_volume_params();
  const std::vector<Frame> noisy = volume(45);
  const Backend backend{.kind = BackendKind::cuda};
  const std::vector<Frame> whole = denoise(params, noisy, backend);
  EXPECT_NEAR(clip_psnr(whole), clip_psnr(denoise(params, noisy)), 0.02);
  const auto open_one = [&] { return open(params, noisy[0].format, backend); };
  for (const int frames : {3, 10}) {
    std::vector<std::unique_ptr<Denoiser>> sessions;
    for (int i = 0; i < 2; ++i) sessions.push_back(open_one());
    const auto shared =
        pipeline::shard_parts(std::move(sessions), {.margin = margin(params), .frames = frames});
    EXPECT_TRUE(same_clips(run_clip(*shared, noisy), whole)) << frames;
  }
}

// The volume is longer than the number of slices that a GPU keeps; another volume then uses the
// same session.
TEST_F(NlmCuda, LongVolumesMatchTheQualityOfTheHost) {
  Params guided = quick_volume_params();
  guided.guided = true;
  for (const Params& params : {quick_volume_params(), guided}) {
    std::vector<Frame> noisy = volume(150);
    for (Frame& slice : noisy)
      if (params.guided) slice.guide = std::make_shared<Frame>(slice);
    const auto session = open(params, noisy[0].format, {.kind = BackendKind::cuda});
    const std::vector<Frame> cuda = run_clip(*session, noisy), cpu = denoise(params, noisy);
    ASSERT_EQ(cuda.size(), noisy.size());
    for (std::size_t z = 0; z < cpu.size(); ++z)
      EXPECT_GT(psnr(plane_of(cpu[z], 0).view(), plane_of(cuda[z], 0).view()), 45) << z;
    EXPECT_TRUE(same_clips(run_clip(*session, noisy), cuda));
  }
}

TEST_F(NlmCuda, SlicesOutsideAMaskAreUnchanged) {
  std::vector<Frame> noisy = volume(40);
  for (const int z : {0, 1, 17, 39}) noisy[z].mask = nothing_inside();
  const std::vector<Frame> results =
      denoise(quick_volume_params(), noisy, {.kind = BackendKind::cuda});
  std::vector<Frame> bare = noisy;
  for (Frame& slice : bare) slice.mask.reset();
  const std::vector<Frame> whole =
      denoise(quick_volume_params(), bare, {.kind = BackendKind::cuda});
  for (int z = 0; z < 40; ++z)
    EXPECT_TRUE(same_samples(results[z], noisy[z].mask ? noisy[z] : whole[z])) << z;
}

TEST_F(NlmCuda, MissingDeviceIsRejected) {
  EXPECT_THROW((void)open(clip_params(), gray(), {.kind = BackendKind::cuda, .device = 1000}),
               DeviceUnavailable);
  EXPECT_THROW((void)open(quick_volume_params(), volume(1)[0].format,
                          {.kind = BackendKind::cuda, .device = 1000}),
               DeviceUnavailable);
}

}  // namespace
}  // namespace lull::nlm
