#include "core/validate_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "core/frame_pool.h"

namespace lull {
namespace {

FrameFormat yuv(int shift_x, int shift_y) {
  return {.width = 64,
          .height = 48,
          .layout = Layout::yuv,
          .chroma_shift_x = shift_x,
          .chroma_shift_y = shift_y};
}

TEST(ValidateFormat, AcceptsSubsamplingsInUse) {
  for (int x = 0; x <= 4; ++x)
    for (int y = 0; y <= 4; ++y) EXPECT_NO_THROW(validate(yuv(x, y))) << x << ", " << y;
}

// In C++, shifts by these values are undefined behaviour.
TEST(ValidateFormat, RejectsChromaShiftsOutOfRange) {
  for (const int shift :
       {-1, 5, 31, 32, 64, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    for (const FrameFormat& format : {yuv(shift, 0), yuv(0, shift), yuv(1, shift)}) {
      EXPECT_THROW(validate(format), InvalidArgument) << shift;
      // A pool computes the sizes of planes from the shifts.
      EXPECT_THROW((void)FramePool(format), InvalidArgument) << shift;
    }
    FrameFormat grey = yuv(shift, shift);
    grey.layout = Layout::gray;
    EXPECT_THROW(validate(grey), InvalidArgument) << shift;
  }
}

TEST(ValidateFormat, ErrorNamesTheRejectedSubsampling) {
  try {
    validate(yuv(1, -3));
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("chroma subsampled by 2^-3"));
  }
}

TEST(ValidateFormat, RejectsSubsamplingWithoutChroma) {
  for (const Layout layout : {Layout::gray, Layout::rgb}) {
    FrameFormat format = yuv(1, 0);
    format.layout = layout;
    EXPECT_THROW(validate(format), InvalidArgument);
  }
}

}  // namespace
}  // namespace lull
