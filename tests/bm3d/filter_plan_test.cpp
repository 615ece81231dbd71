// Tests how the filter divides its work into blocks on GPUs, including GPUs that are not in this
// machine.

#include "bm3d/cuda/filter/filter_plan.h"

#include <gtest/gtest.h>

#include <tuple>

#include "support/gpus.h"

namespace lull::bm3d {
namespace {

using filter_detail::FilterPlan;
using filter_detail::FilterWork;
using filter_detail::plan_filter;
using test_support::gpu;
using test_support::known_gpus;

constexpr FilterWork still(Phase phase) { return {phase, 640, 360}; }

int blocks_of(const FilterPlan& plan, Phase which, const PhaseParams& phase,
              const cuda::DeviceLimits& device) {
  return filter_detail::resident_blocks(plan, which, filter_detail::group_slots(phase, false),
                                        device);
}

TEST(FilterPlan, FitsTwoBlocksOfEachProfileOnAMultiprocessor) {
  for (const auto& [capability, device] : known_gpus)
    for (const Profile profile : {Profile::fast, Profile::balanced, Profile::high, Profile::paper})
      for (const float sigma : {10.0f, 25.0f, 50.0f}) {
        const Params params = make_params(profile, {sigma, 0, 0});
        for (const Phase which : {Phase::first, Phase::second}) {
          const PhaseParams& phase = which == Phase::first ? params.hard : params.wiener;
          const FilterPlan plan = plan_filter(still(which), phase, device);
          // Sums in device memory would be slow, so the plan must not choose them.
          EXPECT_NE(plan.staging, Staging::direct) << phase.window << ", sm_" << capability;
          EXPECT_GE(blocks_of(plan, which, phase, device), 2)
              << phase.window << ", sm_" << capability;
        }
      }
}

TEST(FilterPlan, FitsEveryWindowIntoEveryGpu) {
  for (const auto& [capability, device] : known_gpus)
    for (int window = 1; window <= 127; window += 2)
      for (int step = 1; step <= patch; ++step)
        for (const int group : {8, 16, 32})
          for (const Phase which : {Phase::first, Phase::second})
            for (const auto across : {GroupTransform::haar, GroupTransform::wht}) {
              const PhaseParams phase{
                  .window = window, .group = group, .step = step, .group_transform = across};
              const FilterPlan plan = plan_filter(still(which), phase, device);
              ASSERT_GE(blocks_of(plan, which, phase, device), 1) << window << ", " << step;
              ASSERT_TRUE(plan.staging != Staging::sums || across == GroupTransform::haar);
              if (window <= 49 && step <= 3 && capability != 75) {
                ASSERT_NE(plan.staging, Staging::direct) << window << ", " << step;
              }
            }
}

TEST(FilterPlan, SumsClustersInDeviceMemory) {
  for (const bool over_time : {false, true}) {
    FilterWork work = still(Phase::first);
    work.over_time = over_time;
    const FilterPlan plan = plan_filter(work, {.clusters = ClusterParams{}}, gpu(90));
    EXPECT_EQ(plan.staging, Staging::direct);
    EXPECT_EQ(plan.shared_bytes, 0);
  }
}

TEST(FilterPlan, KeepsTheTilesMeasuredOnH100) {
  const auto tile_of = [](Phase which, int window, int group, int step) {
    const FilterPlan plan =
        plan_filter(still(which), {.window = window, .group = group, .step = step}, gpu(90));
    return std::tuple(plan.staging, plan.tile.log2_x, plan.tile.log2_y, plan.tile.rows);
  };
  EXPECT_EQ(tile_of(Phase::first, 25, 16, 5), std::tuple(Staging::shared, 3, 3, 67));
  EXPECT_EQ(tile_of(Phase::second, 25, 16, 5), std::tuple(Staging::shared, 3, 3, 67));
  EXPECT_EQ(tile_of(Phase::first, 39, 16, 2), std::tuple(Staging::shared, 3, 3, 60));
  EXPECT_EQ(tile_of(Phase::second, 49, 32, 3), std::tuple(Staging::shared, 3, 2, 65));
  EXPECT_EQ(tile_of(Phase::second, 85, 16, 3), std::tuple(Staging::direct, 2, 2, 0));
}

TEST(FilterPlan, SumsColouredNoiseInDeviceMemoryWhereNoSharedKernelExists) {
  for (const auto& [capability, device] : known_gpus)
    for (const bool over_time : {false, true}) {
      FilterWork work = still(Phase::second);
      work.coloured = true;
      work.over_time = over_time;
      work.present[max_temporal] = true;
      PhaseParams phase{.window = 25, .group = 16};
      EXPECT_NE(plan_filter(work, phase, device).staging, Staging::direct) << "sm_" << capability;
      phase.group_transform = GroupTransform::wht;
      EXPECT_EQ(plan_filter(work, phase, device).staging, Staging::direct) << "sm_" << capability;
    }
}

TEST(FilterPlan, HoldsTheSumsOfAllFramesInSharedMemory) {
  FilterWork work = still(Phase::second);
  work.over_time = true;
  for (int t = max_temporal - 2; t <= max_temporal + 2; ++t) work.present[t] = true;
  const PhaseParams phase = make_params(Profile::balanced, {20, 0, 0}, 2).wiener;
  for (const auto& [capability, device] : known_gpus) {
    const FilterPlan plan = plan_filter(work, phase, device);
    EXPECT_EQ(plan.staging, Staging::sums) << "sm_" << capability;
    EXPECT_EQ(plan.tile.rows,
              plan.rows[max_temporal + 2].first + plan.rows[max_temporal + 2].count);
    // The pitch must be such that every other row of a patch uses its own memory banks.
    EXPECT_EQ(2 * plan.tile.pitch % 32, 8) << plan.tile.pitch;
    EXPECT_GE(plan.tile.pitch, phase.window + 7 * phase.step + 7);
  }
}

}  // namespace
}  // namespace lull::bm3d
