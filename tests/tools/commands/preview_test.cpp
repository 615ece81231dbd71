// Tests the preview of one frame: before and after denoising, and the removed noise.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "io/picture.h"
#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr FrameFormat format{
    .width = 48, .height = 32, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
constexpr int gap = 4;

class Preview : public ::testing::Test {
 protected:
  Outcome preview(const std::string& input, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"preview", input, "--device", "cpu"});
    if (std::ranges::find(more, "--sigma") == more.end())
      more.insert(more.end(), {"--sigma", "20"});
    return run_lull(more, {.folder = folder_ / "."});
  }
  /// Returns the panels of a preview from left to right.
  std::vector<Frame> panels_of(const std::string& name) {
    const std::vector<Frame> frames = frames_of(folder_ / name);
    EXPECT_EQ(frames.size(), 1u);
    const Frame& all = frames.at(0);
    EXPECT_EQ(all.format.layout, Layout::rgb);
    EXPECT_EQ(all.format.bits, 8);
    FrameFormat part = all.format;
    part.width = (all.format.width - 2 * gap) / 3;
    std::vector<Frame> panels;
    for (int i = 0; i < 3; ++i) {
      Frame panel = lull::test_support::make_frame(part);
      for (int plane = 0; plane < 3; ++plane)
        for (int y = 0; y < part.height; ++y)
          std::copy_n(&all.plane<std::uint8_t>(plane)(i * (part.width + gap), y), part.width,
                      panel.plane<std::uint8_t>(plane).row(y));
      panels.push_back(std::move(panel));
    }
    return panels;
  }
  /// Returns the maximum difference between a panel and the displayed frame.
  static int difference(const Frame& panel, const Frame& frame) {
    const Frame rgb = io::to_rgb(frame);
    int most = 0;
    for (int plane = 0; plane < 3; ++plane)
      for (int y = 0; y < rgb.format.height; ++y)
        for (int x = 0; x < rgb.format.width; ++x)
          most = std::max(most, std::abs(panel.plane<std::uint8_t>(plane)(x, y) -
                                         (rgb.plane<std::uint16_t>(plane)(x, y) + 128) / 257));
    return most;
  }
  std::vector<Frame> make_clip(const std::string& name, int frames, bool moving = true) {
    std::vector<Frame> clip;
    for (int i = 0; i < frames; ++i)
      clip.push_back(noisy_picture(clean_picture(format, moving ? 0.3 * i : 0), 20, i + 1));
    write_y4m(folder_ / "made.y4m", clip);
    if (name != "made.y4m")
      convert(folder_ / "made.y4m", folder_ / name,
              {.vopts = {{"g", "5"}}, .lossless = true, .overwrite = true});
    return clip;
  }
  Folder folder_;
};

TEST_F(Preview, ShowsBeforeAfterAndTheRemovedNoise) {
  const std::vector<Frame> clip = make_clip("clip.mkv", 30);
  const Outcome outcome = preview("clip.mkv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("clip.preview.png: the frame at 0.4 s"));  // a third of 1.2 s
  EXPECT_THAT(outcome.err, HasSubstr("amplified 2 times"));
  ASSERT_THAT(folder_.names(), Contains("clip.preview.png"));
  const std::vector<Frame> panels = panels_of("clip.preview.png");
  EXPECT_LE(difference(panels[0], clip[10]), 1);
  // The second panel equals the frame of the complete denoised clip, in which neighbouring frames
  // are used.
  ASSERT_EQ(run_lull({folder_ / "clip.mkv", folder_ / "clean.mkv", "--sigma", "20", "--device",
                      "cpu", "--lossless"})
                .code,
            0);
  EXPECT_LE(difference(panels[1], frames_of(folder_ / "clean.mkv").at(10)), 1);
  for (int plane = 0; plane < 3; ++plane)
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x) {
        const auto at = [&](int i) { return panels[i].plane<std::uint8_t>(plane)(x, y); };
        ASSERT_NEAR(at(2), std::clamp(128 + 2 * (at(0) - at(1)), 0, 255), 3);  // bytes are rounded
      }
}

TEST_F(Preview, ShowsTheFrameAtTheGivenTime) {
  const std::vector<Frame> clip = make_clip("clip.mkv", 30);
  const auto shows = [&](const std::string& time, std::size_t frame) {
    SCOPED_TRACE(time);
    const Outcome outcome =
        preview("clip.mkv", {"--at", time, "-o", "p.png", "-y", "--profile", "fast"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_LE(difference(panels_of("p.png")[0], clip[frame]), 1);
  };
  shows("0", 0);
  shows("0.04", 1);
  shows("0.05", 1);  // this frame is still displayed
  shows("1.19", 29);
  const Outcome late = preview("clip.mkv", {"--at", "1.3"});
  EXPECT_EQ(late.code, 2);
  EXPECT_THAT(late.err, HasSubstr("--at 1.3 (the input ends before"));
}

TEST_F(Preview, LateTimeShowsTheFrameOfTheCompleteClip) {
  // Only the last of 20 s are read. The tests Skip.* in tests/io check that earlier frames are not
  // read.
  const std::vector<Frame> clip = make_clip("long.avi", 500, false);
  const std::vector<std::string> how{"--at", "18", "-y", "-o", "p.png"};
  ASSERT_EQ(preview("long.avi", how).code, 0);
  const std::string whole = bytes_of(folder_ / "p.png");
  EXPECT_LE(difference(panels_of("p.png")[0], clip[450]), 1);
  // Reading from the start gives the same preview.
  ASSERT_EQ(preview("made.y4m", how).code, 0);
  EXPECT_EQ(bytes_of(folder_ / "p.png"), whole);
}

TEST_F(Preview, SupportsStillsSequencesAndStacks) {
  const Frame grey = noisy_picture(clean_picture({.width = 40, .height = 24}), 20);
  write_pnm(folder_ / "photo.pgm", grey);
  const Outcome still = preview("photo.pgm");
  ASSERT_EQ(still.code, 0) << still.err;
  EXPECT_THAT(still.err, HasSubstr("photo.preview.png: the picture, before"));
  EXPECT_EQ(difference(panels_of("photo.preview.png")[0], grey), 0);
  EXPECT_EQ(preview("photo.pgm", {"-y", "--at", "1"}).code, 2);

  std::vector<Frame> pictures;
  for (int i = 0; i < 9; ++i) {
    pictures.push_back(noisy_picture(clean_picture({.width = 40, .height = 24}, i), 20, i));
    write_pnm(folder_ / ("shot_" + std::to_string(101 + i) + ".pgm"), pictures.back());
  }
  const Outcome sequence = preview("shot_%03d.pgm", {"--temporal", "1"});
  ASSERT_EQ(sequence.code, 0) << sequence.err;
  EXPECT_THAT(sequence.err, HasSubstr("shot.preview.png: the frame at 0.12 s"));
  EXPECT_EQ(difference(panels_of("shot.preview.png")[0], pictures[3]), 0);

  // A hand-made NIfTI-1 file: 16x12x5 floats from 0 to 1.
  std::string volume(352, '\0');
  const auto put = [&](std::size_t at, auto value) {
    std::copy_n(reinterpret_cast<const char*>(&value), sizeof value, volume.begin() + at);
  };
  put(0, std::int32_t{348});
  const std::int16_t sides[8] = {3, 16, 12, 5, 1, 1, 1, 1};
  for (std::size_t i = 0; i < 8; ++i) put(40 + 2 * i, sides[i]);
  put(70, std::int16_t{16});
  put(72, std::int16_t{32});
  put(108, 352.0f);
  std::copy_n("n+1", 4, volume.begin() + 344);
  for (int i = 0; i < 16 * 12 * 5; ++i) {
    const float value = static_cast<float>(i * 7919 % 1000) / 1000 + static_cast<float>(i / 192);
    volume.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  write_bytes(folder_ / "scan.nii", volume);
  const Outcome stack = preview("scan.nii", {"--sigma", "0.1", "--axis", "z"});
  ASSERT_EQ(stack.code, 0) << stack.err;
  EXPECT_THAT(stack.err, HasSubstr("scan.preview.png: slice 2, before"));
  EXPECT_EQ(panels_of("scan.preview.png")[0].format.width, 16);
}

TEST_F(Preview, RejectsInvalidRequests) {
  make_clip("made.y4m", 3);
  const auto refused = [&](const std::vector<std::string>& more, int code, const std::string& part,
                           const std::string& input = "made.y4m") {
    SCOPED_TRACE(::testing::PrintToString(more));
    const std::vector<std::string> before = folder_.names();
    const Outcome outcome = preview(input, more);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_EQ(folder_.names(), before);
  };
  refused({"-o", "p.jpg"}, 2, "PNG");
  refused({"--at", "soon"}, 2, "--at soon");
  refused({"--profile", "hihg"}, 2, "did you mean high?");
  refused({"--vcodec", "ffv1"}, 2, "no such option: --vcodec");
  refused({}, 66, "missing.mkv", "missing.mkv");
  write_bytes(folder_ / "made.preview.png", "precious");
  refused({}, 73, "-y");
  EXPECT_EQ(bytes_of(folder_ / "made.preview.png"), "precious");
  refused({"-o", "no/p.png"}, 73, "no/p.png");
}

}  // namespace
}  // namespace lull::tools
