// Tests the pairs of frames that two-frame patches span.

#include "time/frame_pairs.h"

#include <gtest/gtest.h>

#include <vector>

namespace lull {
namespace {

TEST(FramePairs, PartnersAreTheNextFramesOrAtTheEndTheFramesBefore) {
  const auto partners = [](std::vector<int> offsets) {
    const auto all = partners_of(offsets);
    return std::vector<int>(all.begin(), all.begin() + std::ssize(offsets));
  };
  EXPECT_EQ(partners({0, -1, 1, -2, 2}), (std::vector{2, 0, 4, 1, no_frame}));
  EXPECT_EQ(partners({0, 2, 4}), (std::vector{1, 2, no_frame})) << "frames between are of others";
  EXPECT_EQ(partners({0, -1, -3}), (std::vector{1, 2, no_frame})) << "the last one of a scene";
  EXPECT_EQ(partners({0}), (std::vector{no_frame}));
}

}  // namespace
}  // namespace lull
