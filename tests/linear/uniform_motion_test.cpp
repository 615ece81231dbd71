// Tests which motion of patches that span two frames is uniform.

#include "linear/uniform_motion.h"

#include <gtest/gtest.h>

namespace lull::linear {
namespace {

TEST(UniformMotion, HasAnAccelerationBelowTwoSamples) {
  EXPECT_TRUE(is_uniform({3, 1}, {6, 2}, {3, 1}));
  EXPECT_TRUE(is_uniform({3, 1}, {7, 1}, {3, 1})) << "rounding makes one sample";
  EXPECT_FALSE(is_uniform({3, 1}, {8, 2}, {3, 1}));
  EXPECT_FALSE(is_uniform({3, 1}, {6, 0}, {3, 1}));
  EXPECT_FALSE(is_uniform({-4, 0}, {}, {1, -2}));
}

}  // namespace
}  // namespace lull::linear
