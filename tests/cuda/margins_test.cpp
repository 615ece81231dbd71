// Tests the layout of planes in device memory, and the sizes that kernels reject.

#include "cuda/layout/margins.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"

namespace lull {
namespace {

std::string refusal(const Margins& margins) {
  try {
    require_addressable(margins);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

TEST(Margins, SurroundTheSearchWindows) {
  for (const int window : {1, 25, 39, 127})
    for (const int width : {8, 1920, 16384}) {
      const Margins margins(width, 100, window, 30);
      EXPECT_EQ(margins.pitch % 32, 0);
      EXPECT_GE(margins.left, window / 2);
      EXPECT_GE(margins.top, std::max(30, window / 2));
      EXPECT_GE(margins.pitch, margins.left + width + window / 2 + 64);
      EXPECT_EQ(margins.at(0, 0), margins.top * margins.pitch + margins.left);
      EXPECT_LT(margins.at(width + window / 2, 100 + window / 2),
                static_cast<std::int64_t>(margins.size()));
    }
}

TEST(Margins, AreAddressableUpTo32Bits) {
  EXPECT_EQ(refusal(Margins(16384, 16384, 127, 64)), "");
  EXPECT_EQ(refusal(Margins(46000, 46000, 39, 64)), "");
  EXPECT_EQ(refusal(Margins::none(46336, 46336)), "");
  EXPECT_NE(refusal(Margins(46341, 46341, 39, 64)).find("planes of 46341x46341 samples on a GPU"),
            std::string::npos);
  EXPECT_NE(refusal(Margins(65536, 65536, 39, 64)), "");
  EXPECT_NE(refusal(Margins::none(65536, 32768)), "") << "2^31 samples";
}

TEST(Margins, AreAddressableUpToTheLaunchLimit) {
  EXPECT_EQ(refusal(Margins(64, 500000, 15, 8)), "");
  EXPECT_NE(refusal(Margins(64, 8 * 65535, 15, 8)), "") << "more than 65535 blocks of 8 rows";
  EXPECT_EQ(refusal(Margins(10000000, 64, 15, 8)), "") << "there may be more blocks in a row";
}

}  // namespace
}  // namespace lull
