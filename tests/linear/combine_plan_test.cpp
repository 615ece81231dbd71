// Tests how the work of the cuda backend is divided. No test needs a GPU.

#include "linear/cuda/combine_plan.h"

#include <gtest/gtest.h>

namespace lull::linear {
namespace {

constexpr std::size_t fixed_bytes = 8192, bytes_per_sample = 20;
constexpr cuda::DeviceLimits turing{.multiprocessors = 40,
                                    .warps = 32,
                                    .shared_memory = 64 << 10,
                                    .block_shared_memory = 64 << 10,
                                    .reserved = 0};
constexpr cuda::DeviceLimits hopper{.multiprocessors = 132,
                                    .warps = 64,
                                    .shared_memory = 228 << 10,
                                    .block_shared_memory = 227 << 10,
                                    .reserved = 1 << 10};

TEST(CombinePlan, FitsSharedMemoryForEveryNoiseLevel) {
  for (const cuda::DeviceLimits& limits : {turing, hopper})
    for (const float coarseness : {1.0f, 2.0f, 9.0f})
      for (const float sigma : {1.0f, 10.0f, 25.0f, 75.0f}) {
        const SetParams params = parameters_for(sigma, coarseness);
        const CombinePlan pilot = plan_combine(params.pilot, fixed_bytes, 12, limits);
        const CombinePlan iteration =
            plan_combine(params.iteration, fixed_bytes, bytes_per_sample, limits);
        for (const CombinePlan& plan : {pilot, iteration}) {
          EXPECT_LE(plan.bytes, limits.dynamic_limit());
          EXPECT_GE(plan.warps, 1);
          EXPECT_LE(plan.warps, plan.across * plan.down);
        }
      }
}

TEST(CombinePlan, CoversTheWindowsOfAllReferencePatches) {
  const GroupSizes sizes{.side = 6, .group = 48, .step = 4, .window = 43};
  const CombinePlan plan = plan_combine(sizes, fixed_bytes, bytes_per_sample, hopper);
  EXPECT_EQ(plan.across * plan.down, max_block_references);
  EXPECT_GE(plan.pitch, (plan.across - 1) * sizes.step + sizes.window - 1 + sizes.side);
  EXPECT_GE(plan.rows, (plan.down - 1) * sizes.step + sizes.window - 1 + sizes.side);
}

TEST(CombinePlan, RefusesWindowsThatExceedSharedMemory) {
  EXPECT_THROW((void)plan_combine({.side = 13, .group = 48, .step = 4, .window = 43}, fixed_bytes,
                                  64, turing),
               InternalError);
}

}  // namespace
}  // namespace lull::linear
