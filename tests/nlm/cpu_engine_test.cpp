// Compares the engines of the cpu backend with those of the reference.

#include <gtest/gtest.h>

#include "nlm/engines.h"

namespace lull::nlm {
namespace {

using namespace test_support;

/// The tolerance covers sums of floats in another order and rounded factors, for values up to 255
/// whose weights are eighth powers.
constexpr double tolerance = 0.01;

void expect_reference_result(const FramePlan& plan, const std::vector<std::vector<Motion>>& motion,
                             const std::string& what) {
  const auto reference = make_reference_frame_engine(plan), cpu = make_cpu_frame_engine(plan, 2);
  const auto expected = run_frames(*reference, plan, motion);
  EXPECT_LT(max_difference(expected, run_frames(*cpu, plan, motion)), tolerance) << what;
}

TEST(NlmCpuEngine, FramesMatchTheReference) {
  for (const NamedParams& p : picture_params())
    expect_reference_result(frame_plan(p.params, 67, 21), {}, p.name);
}

TEST(NlmCpuEngine, PatchesWithHolesAreNotCandidates) {
  const Holes holes = some_holes(47, 19);
  const auto expect = [&](Params params, int frames, const std::string& what) {
    params.search_radius = std::min(params.search_radius, 2);
    params.holes = true;
    const FramePlan plan = frame_plan(params, 47, 19, 1, 1, true, frames);
    const auto cpu = make_cpu_frame_engine(plan, 2);
    const auto expected = run_frames(*make_reference_frame_engine(plan), plan, {}, &holes);
    const auto result = run_frames(*cpu, plan, {}, &holes);
    EXPECT_LT(max_difference(expected, result), tolerance) << what;
    EXPECT_GT(max_difference(result, run_frames(*cpu, plan)), tolerance) << what;
  };
  for (const NamedParams& p : picture_params()) expect(p.params, 1, p.name);
  expect(picture_params()[0].params, 2, "two frames");
}

TEST(NlmCpuEngine, AnySizeMatchesTheReference) {
  for (const int block : {1, 4}) {
    Params params = picture_params()[0].params;
    params.block = block;
    params.step = std::min(params.step, block);
    for (const int width : {1, 2, 3, 7, 61})
      for (const int height : {1, 5, 33})
        expect_reference_result(frame_plan(params, width, height), {},
                                std::to_string(width) + "x" + std::to_string(height));
  }
}

TEST(NlmCpuEngine, PlanesShareTheWeightsOfTheirGuides) {
  const Params params = picture_params()[0].params, single = picture_params()[10].params;
  for (const Params& p : {params, single}) {
    expect_reference_result(frame_plan(p, 37, 21, 3, 3), {}, "jointly");
    expect_reference_result(frame_plan(p, 37, 21, 3, 1), {}, "by the first");
    expect_reference_result(frame_plan(p, 37, 21, 2, 3, false), {}, "by others");
  }
}

TEST(NlmCpuEngine, CandidatesInOtherFramesFollowTheMotionOfEachCell) {
  for (const std::size_t which : {0, 4, 10}) {
    FramePlan plan = frame_plan(picture_params()[which].params, 70, 45, 1, 1, true, 3);
    const std::vector<std::vector<Motion>> motion{
        {}, {{2, 0}, {-3, 1}, {-4, 2}, {0, -5}, {1, 0}, {-2, -1}}, {{4, -1}, {}, {}, {}, {}, {}}};
    expect_reference_result(plan, motion, "motion");
    expect_reference_result(plan, {}, "none");
    plan.shift_x = plan.shift_y = 1;  // the planes have half the size
    plan.width = 35, plan.height = 23;
    expect_reference_result(plan, motion, "smaller cells");
  }
}

TEST(NlmCpuEngine, VolumesMatchTheReference) {
  for (const NamedParams& p : volume_params())
    for (const bool itself : {true, false}) {
      const VolumePlan plan{p.params, 21, 11, 1 / (test_sigma * test_sigma), itself};
      const auto reference = make_reference_volume_engine(plan);
      const auto cpu = make_cpu_volume_engine(plan, 2);
      for (const int slices : {1, 2, 7}) {
        const auto expected = run_volume(*reference, plan, 3, slices, 1);
        const auto result = run_volume(*cpu, plan, 3, slices, cpu->slices_at_a_time());
        EXPECT_LT(max_difference(expected, result), tolerance) << p.name << ", slices: " << slices;
      }
    }
}

TEST(NlmCpuEngine, ThreadsAndSliceBatchesDoNotChangeResult) {
  const FramePlan plan = frame_plan(picture_params()[0].params, 150, 90);
  const auto one = run_frames(*make_cpu_frame_engine(plan, 1), plan);
  for (const int threads : {2, 5})
    EXPECT_EQ(max_difference(one, run_frames(*make_cpu_frame_engine(plan, threads), plan)), 0);
  const VolumePlan volume{volume_params()[0].params, 70, 40, 1 / (test_sigma * test_sigma)};
  const auto slices = run_volume(*make_cpu_volume_engine(volume, 1), volume, 0, 9, 1);
  for (const int together : {2, 3, 4})
    EXPECT_EQ(max_difference(
                  slices, run_volume(*make_cpu_volume_engine(volume, 3), volume, 0, 9, together)),
              0);
}

}  // namespace
}  // namespace lull::nlm
