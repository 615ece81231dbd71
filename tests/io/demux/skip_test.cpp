// Tests reading from the middle of an input.

#include <gtest/gtest.h>

#include "io/support/clip.h"

namespace lull::io::test {
namespace {

double time_of(const Frame& frame) {
  return static_cast<double>(frame.pts * frame.time_base.num) /
         static_cast<double>(frame.time_base.den);
}

std::vector<std::byte> row_of(const Frame& frame) {
  const auto& plane = frame.planes[0];
  return {plane.row(0), plane.row(0) + frame.format.width};
}

TEST(Skip, StartsBeforeTheTimeAndKeepsFrames) {
  const TemporaryFolder folder;
  for (const char* name : {"in.mkv", "in.mp4", "in.avi", "in.ts", "in.m4v"}) {
    SCOPED_TRACE(name);
    ClipSpec spec;
    spec.frames = 250;  // 10 s
    spec.encoder = "mpeg4";
    spec.encoder_options = {{"g", "25"}};
    make_clip(folder / name, spec);
    const auto whole = open_source(folder / name);
    const auto part = open_source(folder / name, {.skip_us = 6000000});
    const double start = time_of(*open_source(folder / name)->read());
    std::optional<Frame> frame = part->read();
    ASSERT_TRUE(frame);
    EXPECT_LE(time_of(*frame), start + 6);
    EXPECT_GT(time_of(*frame), start + 3);  // earlier frames were not read
    std::optional<Frame> same = whole->read();
    while (same && same->pts < frame->pts) same = whole->read();
    int frames = 0;
    for (; frame && same; frame = part->read(), same = whole->read(), ++frames) {
      ASSERT_EQ(frame->pts, same->pts);
      ASSERT_EQ(row_of(*frame), row_of(*same)) << frames;
    }
    EXPECT_FALSE(frame || same);
    EXPECT_GE(frames, 100);
  }
}

TEST(Skip, DoesNotReadSkippedFilesOfASequence) {
  const TemporaryFolder folder;
  ClipSpec spec = png_spec();
  for (int i = 0; i < 50; ++i) {
    spec.width = 20 + (i == 0 ? 1 : 0);  // the first picture has another size than the others
    make_clip(folder / ("f" + std::to_string(i) + ".png"), spec);
  }
  const auto part = open_source(folder / "f%d.png", {.skip_us = 1000000});
  int frames = 0;
  for (std::optional<Frame> frame = part->read(); frame; frame = part->read(), ++frames)
    EXPECT_NEAR(time_of(*frame), 1 + 0.04 * frames, 1e-9);
  EXPECT_EQ(frames, 25);
}

TEST(Skip, IsRejectedForInputsWithoutTimestamps) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "libx264";
  spec.muxer = "h264";
  make_clip(folder / "in.h264", spec);
  EXPECT_THROW((void)open_source(folder / "in.h264", {.skip_us = 1000}), InvalidArgument);
}

}  // namespace
}  // namespace lull::io::test
