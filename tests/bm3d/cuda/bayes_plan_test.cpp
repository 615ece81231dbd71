// Tests the plans of the Bayes phases for GPUs that are not in this machine: the choice of
// specialised kernels and the scale of samples.

#include <gtest/gtest.h>

#include <cmath>

#include "bm3d/bayes_precision.h"
#include "bm3d/cuda/bayes/match_layout.h"
#include "support/gpus.h"
#include "time/frames.h"

namespace lull::bm3d {
namespace {

TEST(BayesMatchPlan, UsesTheSpecialisedKernelsInTheBestProfile) {
  for (int temporal = 1; temporal <= max_temporal; ++temporal)
    for (const int pairs : {2 * temporal, 2 * temporal + 1})
      for (const BayesParams& phase : make_params(Profile::best, {20, 0, 0}, temporal).bayes_phases)
        for (const int capability : {80, 90, 100}) {
          const MatchWork work{phase.window, phase.temporal_window, phase.side, 2, phase.step,
                               pairs};
          const BayesMatchPlan plan = match_plan(work, test_support::gpu(capability));
          const BayesMatchPlan usual = typical_plan(kernel_side(phase.side));
          EXPECT_TRUE(plan.own == usual.own && plan.other == usual.other)
              << "patches of " << phase.side << ", R = " << temporal << ", sm_" << capability;
        }
}

TEST(HalfScale, IsSigmaForOrdinaryNoise) {
  for (const float sigma : {1.0f / 64, 0.1f, 1.0f, 20.0f, 100.0f}) {
    const HalfScale scale = half_scale(sigma, 10);
    EXPECT_EQ(scale.unit, sigma);
    EXPECT_EQ(scale.threshold, 10);
  }
}

TEST(HalfScale, KeepsDifferencesWithinHalves) {
  constexpr float largest_half = 65504;
  for (float sigma = 1e-8f; sigma <= 100; sigma *= 1.5f) {
    const HalfScale scale = half_scale(sigma, 1.3f);
    EXPECT_LE(max_sample_difference / scale.unit, largest_half) << sigma;
    EXPECT_TRUE(std::isfinite(1 / scale.threshold)) << sigma;
    EXPECT_GT(scale.threshold, 0) << sigma;
  }
}

TEST(HalfScale, KeepsTheThresholdInUnitsOfTheNoise) {
  for (const float sigma : {1e-5f, 0.001f, 0.01f, 0.3f, 7.0f}) {
    const HalfScale scale = half_scale(sigma, 10);
    EXPECT_NEAR(scale.threshold * scale.unit * scale.unit / (sigma * sigma), 10, 1e-4) << sigma;
  }
}

}  // namespace
}  // namespace lull::bm3d
