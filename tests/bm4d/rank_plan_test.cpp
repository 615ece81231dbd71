// Tests the thread blocks that select groups without a search, for GPUs that are not in this
// machine.

#include "bm4d/cuda/rank_plan.h"

#include <gtest/gtest.h>

#include "support/gpus.h"

namespace lull::bm4d {
namespace {

constexpr int many_layers = 16;

TEST(Bm4dRankPlan, FitsInTheSharedMemoryOfEveryGpu) {
  for (const auto& [capability, limits] : lull::test_support::known_gpus)
    for (const int cube : {3, 4})
      for (int window = 3; window <= max_window; window += 2)
        for (int step = 1; step <= cube; ++step)
          for (const int layers : {1, 3, many_layers}) {
            const PhaseParams params{.cube = cube, .window = window, .step = step};
            const cuda::RankPlan plan = cuda::plan_rank(params, layers, limits.dynamic_limit());
            EXPECT_LE(plan.bytes(params), limits.dynamic_limit())
                << "sm_" << capability << ", cubes of " << cube << ", a window of " << window
                << ", a step of " << step;
            EXPECT_GE(plan.rows, 2) << "max_reference_rows in extent.h assumes at least two rows";
            EXPECT_LE(plan.layers, layers);
          }
}

TEST(Bm4dRankPlan, UsesWholeBlocksInTheProfiles) {
  for (const auto& [capability, limits] : lull::test_support::known_gpus)
    for (const Profile profile : {Profile::fast, Profile::balanced, Profile::high}) {
      const PhaseParams params = make_params(profile, {20, 20, 20}).wiener;
      const cuda::RankPlan plan = cuda::plan_rank(params, many_layers, limits.dynamic_limit());
      EXPECT_EQ(plan.rows, cuda::rank_side) << "sm_" << capability;
    }
}

}  // namespace
}  // namespace lull::bm4d
