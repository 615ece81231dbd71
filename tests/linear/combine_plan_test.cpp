// Tests how the work of the cuda backend is divided. No test needs a GPU.

#include "linear/cuda/combine_plan.h"

#include <gtest/gtest.h>

#include "cuda/layout/margins.h"
#include "linear/cuda/time_windows.h"
#include "linear/plan.h"

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

constexpr cuda::DeviceLimits ampere{.multiprocessors = 84,
                                    .warps = 48,
                                    .shared_memory = 100 << 10,
                                    .block_shared_memory = 99 << 10,
                                    .reserved = 1 << 10};

TEST(TimePlan, KeepsTheWarpsOfLargeGpusBusyForEveryNoiseLevel) {
  for (const float coarseness : {1.0f, 2.0f, 9.0f})
    for (const float sigma : {1.0f, 20.0f, 75.0f}) {
      const SetParams params = parameters_over_time(sigma, coarseness);
      for (const int radius : {1, 2, 4}) {
        const TimePlan pilot = plan_over_time(params.pilot, 2 * radius + 1, 8400, 8, hopper);
        const TimePlan iteration =
            plan_over_time(params.iteration, 2 * radius + 1, 10400, 16, hopper);
        EXPECT_EQ(pilot.warps(), 8) << sigma << ", radius " << radius;
        EXPECT_EQ(iteration.warps(), 8) << sigma << ", radius " << radius;
      }
    }
}

TEST(TimePlan, FitsSharedMemoryOrHasNoReferencePatches) {
  for (const cuda::DeviceLimits& limits : {turing, ampere, hopper})
    for (const float coarseness : {1.0f, 2.0f, 9.0f})
      for (int radius = 1; radius <= max_temporal; ++radius) {
        const SetParams params = parameters_over_time(20, coarseness);
        const TimePlan pilot = plan_over_time(params.pilot, 2 * radius + 1, 8400, 8, limits);
        const TimePlan iteration =
            plan_over_time(params.iteration, 2 * radius + 1, 10400, 16, limits);
        for (const TimePlan& plan : {pilot, iteration}) {
          EXPECT_LE(plan.bytes, limits.dynamic_limit());
          EXPECT_TRUE(plan.warps() == 0 || plan.warps() >= 4);
        }
        // docs/how-it-works/linear-combinations.md states these radii.
        const int fitting = limits.shared_memory == turing.shared_memory   ? 2
                            : limits.shared_memory == ampere.shared_memory ? 4
                                                                           : max_temporal;
        if (radius <= fitting) {
          EXPECT_GT(pilot.warps(), 0) << radius;
          EXPECT_GT(iteration.warps(), 0) << radius;
        }
      }
}

// A launch has at most 65535 thread blocks along y. The smallest blocks have two rows of reference
// patches.
TEST(TimePlan, ThreadBlocksOfTheTallestPlaneFitALaunch) {
  for (const float coarseness : {1.0f, 9.0f})
    for (const float sigma : {1.0f, 20.0f, 75.0f}) {
      const SetParams params = parameters_over_time(sigma, coarseness);
      for (const GroupSizes& sizes : {params.pilot, params.iteration}) {
        const ReferenceGrid grid(64, static_cast<int>(max_plane_rows), sizes.step, sizes.side);
        EXPECT_LE((grid.count_y + 1) / 2, 65535);
      }
    }
}

TEST(TimePlan, WindowsOfAllFramesFitIntoTheAtlasWithoutOverlap) {
  const GroupSizes sizes = parameters_over_time(20).iteration;
  for (const int frames : {1, 2, 5, 9, 17}) {
    const WindowAtlas atlas = plan_over_time(sizes, frames, 0, 4, hopper).atlases[0];
    ASSERT_GT(atlas.words, 0);
    std::vector<int> used(atlas.words, 0);
    for (int f = 0; f < frames; ++f) {
      const int window = f == 0 ? sizes.window : sizes.temporal_window;
      for (int y = 0; y < window + sizes.side - 1 + (atlas.down - 1) * sizes.step; ++y)
        for (int x = 0; x < window + sizes.side - 1 + (atlas.across - 1) * sizes.step; ++x)
          ++used.at(atlas.first[f] + y * atlas.pitch + x);
    }
    for (const int uses : used) EXPECT_LE(uses, 1) << frames;
  }
}

TEST(TimePlan, SumsFitIn32BitsWithAUnitThatIsFineEnough) {
  for (int radius = 1; radius <= max_temporal; ++radius)
    for (const GroupSizes& sizes :
         {parameters_over_time(20).pilot, parameters_over_time(75).iteration}) {
      const float scale = time_value_scale(sizes, radius);
      // An estimate with a weight of at least 1 is rounded by less than 1/8 of a level.
      EXPECT_GE(scale * static_cast<float>(weight_scale), 8);
      EXPECT_LE(scale, block_value_scale);
    }
}

TEST(CombinePlan, RefusesWindowsThatExceedSharedMemory) {
  EXPECT_THROW((void)plan_combine({.side = 13, .group = 48, .step = 4, .window = 43}, fixed_bytes,
                                  64, turing),
               InternalError);
}

}  // namespace
}  // namespace lull::linear
