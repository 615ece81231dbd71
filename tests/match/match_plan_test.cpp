// Tests how the matcher divides its work into blocks on GPUs, including GPUs that are not in this
// machine.

#include "match/cuda/match_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "bm3d/params.h"
#include "core/error.h"
#include "support/gpus.h"

namespace lull {
namespace {

using bm3d::make_params;
using bm3d::Params;
using bm3d::PhaseParams;
using bm3d::Profile;
using test_support::gpu;
using test_support::known_gpus;

/// Returns the number of matching blocks that fit on a multiprocessor.
int blocks_of(const MatchPlan& plan, const cuda::DeviceLimits& device) {
  // The number of registers limits the number of blocks.
  return std::min(2, device.blocks(match_detail::threads, plan.shared_bytes));
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

TEST(MatchPlan, FitsTwoBlocksOfEachProfileOnAMultiprocessor) {
  for (const auto& [capability, device] : known_gpus)
    for (const Profile profile : {Profile::fast, Profile::balanced, Profile::high, Profile::paper})
      for (const float sigma : {10.0f, 25.0f, 50.0f}) {
        const Params params = make_params(profile, {sigma, 0, 0});
        for (const PhaseParams& phase : {params.hard, params.wiener}) {
          const MatchPlan plan = plan_match(phase.matching(), device);
          // A T4 has 64 KB of shared memory. Half of it cannot hold a band of larger windows, so
          // one block uses all of it.
          const bool two = capability != 75 || phase.window <= 25;
          EXPECT_EQ(blocks_of(plan, device), two ? 2 : 1) << phase.window << ", sm_" << capability;
          const bool tall = phase.window <= 39 && (capability != 75 || !two);
          EXPECT_GE(plan.band_rows, tall ? 16 : 8)
              << "window " << phase.window << ", step " << phase.step << ", sm_" << capability;
        }
      }
}

TEST(MatchPlan, KeepsTheSizesMeasuredOnH100) {
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

TEST(TimePlan, FitsEveryWindowWithTheDefaultTemporalWindow) {
  for (const auto& [capability, device] : known_gpus)
    for (int window = 1; window <= 127; window += 2)
      for (int step = 1; step <= patch; ++step) {
        const TimePlan plan = plan_match_over_time({.window = window, .step = step}, 8, device);
        ASSERT_GE(device.blocks(match_detail::threads, plan.shared_bytes), 1)
            << window << ", " << step << ", sm_" << capability;
      }
}

TEST(TimePlan, RejectsMoreCandidatesThanItCanNumber) {
  const MatchParams phase{.window = 49, .step = 1, .temporal_window = 63};
  try {
    (void)plan_match_over_time(phase, 2 * max_temporal, gpu(90));
    FAIL() << "49x49 candidates and 16 times 63x63 in 16 bits";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "window = 49, temporal-window = 63 (with 16 other frames these have more than the "
                 "65536 candidates that a GPU supports); choose smaller ones, a smaller "
                 "--temporal, or the CPU");
  }
}

TEST(TimePlan, RejectsWindowsThatExceedSharedMemory) {
  const PhaseParams phase{.window = 15, .step = 3, .temporal_window = 63};
  try {
    (void)plan_match_over_time(phase.matching(), 4, gpu(75));
    FAIL() << "63x63 candidates of 16 reference patches in 64 KB";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(
        error.what(),
        "window = 15, temporal-window = 63 (this GPU has too little shared memory for it); "
        "choose a smaller one, or the CPU");
  }
}

}  // namespace
}  // namespace lull
