// How kernels are cut to GPUs, for those that are not here too.

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "bm3d/cuda/filter_plan.h"
#include "core/error.h"
#include "match/cuda/match_plan.h"
#include "support/gpus.h"

namespace lull::bm3d {
namespace {

using filter_detail::FilterPlan;
using filter_detail::FilterWork;
using filter_detail::plan_filter;
using testing::gpu;
using testing::kib;
using testing::known_gpus;

/// Blocks of matching that a multiprocessor holds.
int blocks_of(const MatchPlan& plan, const cuda::DeviceLimits& device) {
  return std::min(2, device.blocks(match_detail::threads, plan.shared_bytes));  // registers
}

constexpr FilterWork still(Phase phase) { return {phase, 640, 360}; }

int blocks_of(const FilterPlan& plan, Phase phase, int group, const cuda::DeviceLimits& device) {
  return filter_detail::blocks_held(plan, phase, group, device);
}

TEST(MatchPlan, FitsEveryWindowIntoEveryGpu) {
  for (const auto& [capability, device] : known_gpus)
    for (int window = 1; window <= 127; window += 2)
      for (int step = 1; step <= patch; ++step) {
        const MatchPlan plan = plan_match({.window = window, .step = step}, device);
        ASSERT_GE(blocks_of(plan, device), 1) << window << ", " << step << ", sm_" << capability;
        ASSERT_LE(plan.union_width, plan.union_pitch) << window << ", " << step;
        ASSERT_GE(plan.band_rows, match_detail::unit_rows);
      }
}

TEST(MatchPlan, LetsAMultiprocessorHoldTwoBlocksOfTheProfiles) {
  for (const auto& [capability, device] : known_gpus)
    for (const Profile profile : {Profile::fast, Profile::balanced, Profile::high, Profile::paper})
      for (const float sigma : {10.0f, 25.0f, 50.0f}) {
        const Params params = make_params(profile, {sigma, 0, 0});
        for (const PhaseParams& phase : {params.hard, params.wiener}) {
          const MatchPlan plan = plan_match(phase.matching(), device);
          // Half of a T4's 64 KB holds no band of greater windows: one block with all of it.
          const bool two = capability != 75 || phase.window <= 25;
          EXPECT_EQ(blocks_of(plan, device), two ? 2 : 1) << phase.window << ", sm_" << capability;
          const bool tall = phase.window <= 39 && (capability != 75 || !two);
          EXPECT_GE(plan.band_rows, tall ? 16 : 8)
              << "window " << phase.window << ", step " << phase.step << ", sm_" << capability;
        }
      }
}

TEST(MatchPlan, StaysAsItWasMeasuredOnAnH100) {
  const auto rows_and_chunk = [](int window, int step) {
    const MatchPlan plan = plan_match({.window = window, .step = step}, gpu(90));
    return std::tuple(plan.band_rows, plan.chunk, plan.union_pitch, plan.shared_bytes);
  };
  EXPECT_EQ(rows_and_chunk(19, 8), std::tuple(48, 6, 64, 69456u));
  EXPECT_EQ(rows_and_chunk(25, 5), std::tuple(40, 11, 64, 69264u));
  EXPECT_EQ(rows_and_chunk(39, 2), std::tuple(48, 25, 64, 100176u));
  EXPECT_EQ(rows_and_chunk(49, 3), std::tuple(32, 25, 64, 95376u));
  EXPECT_EQ(rows_and_chunk(127, 8), std::tuple(16, 6, 160, 109520u));
}

TEST(TimePlan, FitsTheProfilesIntoEveryGpu) {
  for (const auto& [capability, device] : known_gpus)
    for (const Profile profile : {Profile::fast, Profile::balanced, Profile::high, Profile::paper})
      for (int temporal = 1; temporal <= max_temporal; ++temporal) {
        const Params params = make_params(profile, {20, 0, 0}, temporal);
        for (const PhaseParams& phase : {params.hard, params.wiener}) {
          const TimePlan plan = plan_match_over_time(phase.matching(), 2 * temporal, device);
          EXPECT_GE(device.blocks(match_detail::threads, plan.shared_bytes),
                    capability == 75 ? 1 : 2)
              << "window " << phase.window << ", step " << phase.step << ", sm_" << capability;
        }
      }
}

TEST(TimePlan, FitsEveryWindowWithTheUsualOneInOtherFrames) {
  for (const auto& [capability, device] : known_gpus)
    for (int window = 1; window <= 127; window += 2)
      for (int step = 1; step <= patch; ++step) {
        const TimePlan plan = plan_match_over_time({.window = window, .step = step}, 8, device);
        ASSERT_GE(device.blocks(match_detail::threads, plan.shared_bytes), 1)
            << window << ", " << step << ", sm_" << capability;
      }
}

TEST(TimePlan, RefusesWindowsThatNoBlockHolds) {
  const PhaseParams phase{.window = 15, .step = 3, .temporal_window = 63};
  try {
    (void)plan_match_over_time(phase.matching(), 4, gpu(75));
    FAIL() << "63x63 candidates of 16 reference patches in 64 KB";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "window = 15, temporal-window = 63 (this GPU's shared memory does not hold that); "
                 "choose a smaller one, or the CPU");
  }
}

TEST(FilterPlan, LetsAMultiprocessorHoldTwoBlocksOfTheProfiles) {
  for (const auto& [capability, device] : known_gpus)
    for (const Profile profile : {Profile::fast, Profile::balanced, Profile::high, Profile::paper})
      for (const float sigma : {10.0f, 25.0f, 50.0f}) {
        const Params params = make_params(profile, {sigma, 0, 0});
        for (const Phase which : {Phase::first, Phase::second}) {
          const PhaseParams& phase = which == Phase::first ? params.hard : params.wiener;
          const FilterPlan plan = plan_filter(still(which), phase, device);
          // Never sums in device memory, which are slow.
          EXPECT_NE(plan.staging, Staging::direct) << phase.window << ", sm_" << capability;
          EXPECT_GE(blocks_of(plan, which, phase.group, device), 2)
              << phase.window << ", sm_" << capability;
        }
      }
}

TEST(FilterPlan, FitsEveryWindowIntoEveryGpu) {
  for (const auto& [capability, device] : known_gpus)
    for (int window = 1; window <= 127; window += 2)
      for (int step = 1; step <= patch; ++step)
        for (const int group : {16, 32})
          for (const Phase which : {Phase::first, Phase::second})
            for (const auto across : {GroupTransform::haar, GroupTransform::wht}) {
              const PhaseParams phase{
                  .window = window, .group = group, .step = step, .group_transform = across};
              const FilterPlan plan = plan_filter(still(which), phase, device);
              ASSERT_GE(blocks_of(plan, which, group, device), 1) << window << ", " << step;
              ASSERT_TRUE(plan.staging != Staging::sums || across == GroupTransform::haar);
              if (window <= 49 && step <= 3 && capability != 75) {
                ASSERT_NE(plan.staging, Staging::direct) << window << ", " << step;
              }
            }
}

TEST(FilterPlan, StaysAsItWasMeasuredOnAnH100) {
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

TEST(FilterPlan, HoldsTheSumsOfAllFrames) {
  FilterWork work = still(Phase::second);
  work.over_time = true;
  for (int t = max_temporal - 2; t <= max_temporal + 2; ++t) work.present[t] = true;
  const PhaseParams phase = make_params(Profile::balanced, {20, 0, 0}, 2).wiener;
  for (const auto& [capability, device] : known_gpus) {
    const FilterPlan plan = plan_filter(work, phase, device);
    EXPECT_EQ(plan.staging, Staging::sums) << "sm_" << capability;
    EXPECT_EQ(plan.tile.rows,
              plan.rows[max_temporal + 2].first + plan.rows[max_temporal + 2].count);
  }
}

}  // namespace
}  // namespace lull::bm3d
