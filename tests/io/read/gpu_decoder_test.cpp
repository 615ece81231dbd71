// Tests the behaviour of a source if the GPU that should decode is unusable. No machine has a GPU
// with the number 977.

#include "io/read/gpu_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/support/clip.h"
#include "support/pictures.h"

namespace lull::io::test {
namespace {

using ::testing::HasSubstr;

constexpr int no_gpu = 977;

std::vector<Frame> frames_of(MediaSource& source) {
  std::vector<Frame> frames;
  while (auto frame = source.read()) frames.push_back(std::move(*frame));
  return frames;
}

TEST(GpuDecoder, CpuDecodesEveryFrameIfTheGpuIsMissing) {
  TemporaryFolder folder;
  for (const char* encoder : {"libx264", "libx265", "mpeg4"}) {
    if (!has_encoder(encoder)) continue;
    SCOPED_TRACE(encoder);
    make_clip(folder / "in.mkv", {.frames = 12, .encoder = encoder, .audio = "pcm_s16le"});
    const auto plain = open_source(folder / "in.mkv");
    const auto fallen = open_source(folder / "in.mkv", {.gpu = no_gpu});
    EXPECT_EQ(plain->why_not_gpu(), "");
    EXPECT_THAT(fallen->why_not_gpu(), HasSubstr("GPU"));
    EXPECT_EQ(fallen->why_not_gpu().find('\n'), std::string::npos);
    EXPECT_EQ(fallen->format(), plain->format());
    const std::vector<Frame> expected = frames_of(*plain), frames = frames_of(*fallen);
    ASSERT_EQ(frames.size(), expected.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      EXPECT_EQ(frames[i].on_device, nullptr);
      EXPECT_EQ(frames[i].pts, expected[i].pts);
      EXPECT_TRUE(lull::test_support::same_samples(frames[i], expected[i])) << i;
    }
  }
}

TEST(GpuDecoder, ReportsAWorkingGpu) {
  try {
    EXPECT_TRUE(lull::io::GpuDecoder(0).works());
  } catch (const DeviceUnavailable& error) {
    GTEST_SKIP() << error.what();
  }
}

TEST(GpuDecoder, SelectionAndLimitsApplyAfterTheFallback) {
  TemporaryFolder folder;
  make_clip(folder / "in.mkv", {.frames = 12, .encoder = "mpeg4"});
  const Selection part{.ranges = {{2, 3}, {7, 8}}};
  const auto plain = open_source(folder / "in.mkv", {.selection = part});
  const auto fallen = open_source(folder / "in.mkv", {.selection = part, .gpu = no_gpu});
  EXPECT_NE(fallen->why_not_gpu(), "");
  const std::vector<Frame> expected = frames_of(*plain), frames = frames_of(*fallen);
  ASSERT_EQ(expected.size(), 4u);
  ASSERT_EQ(frames.size(), 4u);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].pts, expected[i].pts);
    EXPECT_TRUE(lull::test_support::same_samples(frames[i], expected[i])) << i;
  }
  EXPECT_THROW((void)open_source(folder / "in.mkv", {.limits = {.pixels = 9}, .gpu = no_gpu}),
               BadData);
  const auto few = open_source(folder / "in.mkv", {.limits = {.frames = 11}, .gpu = no_gpu});
  EXPECT_THROW((void)frames_of(*few), BadData);
}

TEST(GpuDecoder, NamesCodecsThatNoGpuDecodes) {
  TemporaryFolder folder;
  make_clip(folder / "in.mkv", {.encoder = "ffv1"});
  EXPECT_THAT(open_source(folder / "in.mkv", {.gpu = no_gpu})->why_not_gpu(), HasSubstr("ffv1"));
  make_clip(
      folder / "in.jpg",
      {.frames = 1, .format = AV_PIX_FMT_YUVJ420P, .encoder = "mjpeg", .muxer = "image2pipe"});
  EXPECT_NE(open_source(folder / "in.jpg", {.gpu = no_gpu})->why_not_gpu(), "");
}

TEST(GpuDecoder, BadFilesGiveTheSameErrorsAsWithoutGpu) {
  TemporaryFolder folder;
  EXPECT_THROW((void)open_source(folder / "none.mkv", {.gpu = no_gpu}), NoInput);
  make_clip(folder / "in.mkv", {.encoder = "mpeg4"});
  std::vector<std::uint8_t> bytes = read_file(folder / "in.mkv");
  bytes.resize(bytes.size() / 2);
  write_file(folder / "in.mkv", bytes);
  EXPECT_THROW(
      {
        const auto source = open_source(folder / "in.mkv", {.gpu = no_gpu});
        (void)frames_of(*source);
      },
      BadData);
}

}  // namespace
}  // namespace lull::io::test
