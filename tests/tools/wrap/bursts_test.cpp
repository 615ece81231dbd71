// Tests --align in the command.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

constexpr FrameFormat format{.width = 112, .height = 96, .layout = Layout::rgb};

/// Returns a picture of waves in all directions, as a hand-held camera sees them that is rotated by
/// `degrees` and displaced.
Frame render_view(double degrees, double move_x, double move_y) {
  Frame frame = lull::test_support::make_frame(format);
  const double turn = degrees * 3.14159265358979 / 180;
  for (int i = 0; i < 3; ++i) {
    Plane<float> plane(format.width, format.height);
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x) {
        const double u = x - 0.5 * format.width - move_x, v = y - 0.5 * format.height - move_y;
        const double p = std::cos(turn) * u + std::sin(turn) * v;
        const double q = std::cos(turn) * v - std::sin(turn) * u;
        double light = 120 + 8 * i;
        for (int k = 0; k < 24; ++k) {
          const double fineness = 0.12 + 0.06 * k, direction = 2.4 * k;
          light += 6 / (0.4 + fineness) *
                   std::sin(fineness * (p * std::cos(direction) + q * std::sin(direction)) + k);
        }
        plane.view()(x, y) = static_cast<float>(light);
      }
    store_plane(std::as_const(plane).view(), frame, i);
  }
  return frame;
}

class AlignedBursts : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 6; ++i) {
      const bool kept = i == keep_;
      const Frame clean = render_view(kept ? 0 : 0.5 * (i % 3 - 1), kept ? 0 : 8.3 * i - 20,
                                      kept ? 0 : 9.6 - 5.2 * i);
      write_pnm(folder_ / ("b" + std::to_string(i) + ".ppm"),
                noisy_picture(clean, 25, static_cast<unsigned>(i + 1)));
      if (kept) clean_ = clean;
    }
  }
  Outcome denoise(const std::vector<std::string>& more, const std::string& out) {
    std::vector<std::string> all{"denoise",   "-i",   folder_ / "b%d.ppm", "-o", out,        "-y",
                                 "--profile", "fast", "--sigma",           "25", "--device", "cpu"};
    all.insert(all.end(), more.begin(), more.end());
    return run_lull(all);
  }
  double quality(const std::string& path) {
    const Frame result = frames_of(path).at(0);
    return lull::test_support::psnr(lull::test_support::plane_of(clean_, 1).view(),
                                    lull::test_support::plane_of(result, 1).view());
  }
  static constexpr int keep_ = 3;
  Folder folder_;
  Frame clean_;
};

TEST_F(AlignedBursts, AlignmentBeatsMotionSearch) {
  const std::string one = folder_ / "one.png", motion = folder_ / "motion.png",
                    hand = folder_ / "hand.png";
  ASSERT_EQ(denoise({"--keep", "3", "--temporal", "0"}, one).code, 0);
  ASSERT_EQ(denoise({"--keep", "3", "--temporal", "4"}, motion).code, 0);
  const Outcome outcome = denoise({"--keep", "3", "--align"}, hand);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_GT(quality(hand), quality(one) + 2);
  EXPECT_GT(quality(hand), quality(motion) + 0.3);
  ASSERT_EQ(denoise({"--keep", "3", "--align", "--temporal", "8", "--scale", "1.5"},
                    folder_ / "large.png")
                .code,
            0);
  EXPECT_EQ(frames_of(folder_ / "large.png").at(0).format.width, 168);
}

/// Writes a photograph with the raw samples of a sensor: DNG 1.4, one directory, 16 bits, red,
/// green, green, blue.
void write_dng(const std::string& path) {
  constexpr std::uint32_t w = 32, h = 24;
  struct Entry {
    std::uint16_t tag, type;
    std::uint32_t count, value;
  };
  constexpr std::uint32_t entries = 14, at = 8 + 2 + 12 * entries + 4;
  const Entry directory[entries] = {{254, 4, 1, 0},                         // not of reduced size
                                    {256, 4, 1, w},                         // ImageWidth
                                    {257, 4, 1, h},                         // ImageLength
                                    {258, 3, 1, 16},                        // BitsPerSample
                                    {259, 3, 1, 1},                         // not compressed
                                    {262, 3, 1, 32803},                     // a colour filter array
                                    {273, 4, 1, at},                        // StripOffsets
                                    {277, 3, 1, 1},                         // SamplesPerPixel
                                    {278, 4, 1, h},                         // RowsPerStrip
                                    {279, 4, 1, 2 * w * h},                 // StripByteCounts
                                    {33421, 3, 2, 2 | (2 << 16)},           // CFARepeatPatternDim
                                    {33422, 1, 4, 0 | 0x0100 | 0x2010000},  // CFAPattern: 0 1 1 2
                                    {50706, 1, 4, 1 | (4 << 8)},            // DNGVersion
                                    {50717, 4, 1, 65535}};                  // WhiteLevel
  std::string bytes("II*\0\10\0\0\0", 8);
  const auto add = [&](std::uint32_t value, int size) {
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i);
  };
  add(entries, 2);
  for (const Entry& entry : directory)
    add(entry.tag, 2), add(entry.type, 2), add(entry.count, 4), add(entry.value, 4);
  add(0, 4);
  for (std::uint32_t i = 0; i < w * h; ++i) add(2000 + 300 * (i % w), 2);
  write_bytes(path, bytes);
}

TEST_F(AlignedBursts, RawPhotographsWithNamesOfTiffFilesAreRejected) {
  for (int i = 0; i < 3; ++i) write_dng(folder_ / ("raw" + std::to_string(i) + ".tif"));
  const std::vector<std::string> names = folder_.names();
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{folder_ / "raw%d.tif", "--align", "--keep", "1"},
        {folder_ / "raw%d.tif", "--sigma", "5"},
        {folder_ / "raw0.tif"}}) {
    std::vector<std::string> all{"denoise", "-o", folder_ / "out.png", "--device", "cpu"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome outcome = run_lull(all);
    EXPECT_EQ(outcome.code, 65);
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("raw data of a camera sensor"));
    EXPECT_EQ(folder_.names(), names);
  }
}

TEST_F(AlignedBursts, InvalidRequestsAreRejectedInOneLine) {
  struct Case {
    std::vector<std::string> more;
    const char* text;
  };
  for (const Case& bad :
       {Case{{"--align"}, "--align without --keep"},
        Case{{"--align", "--keep", "3", "--temporal", "0"}, "--align with --temporal 0"},
        Case{{"--align", "--keep", "3", "--method", "bm4d"}, "--align with --method bm4d"},
        Case{{"--align", "--keep", "3", "--guide", folder_ / "b%d.ppm"}, "--align with --guide"},
        Case{{"--align", "--keep", "3", "--guide", "auto"}, "--align with --guide"},
        Case{{"--align", "--keep", "3", "--feature", "albedo=a.exr"}, "--align with --feature"},
        Case{{"--align", "--keep", "9"}, "--keep 9 (the input has 6 frames"},
        Case{{"--temporal", "9"}, "--temporal 9 (must be auto, or from 0 to 8)"}}) {
    const Outcome outcome = denoise(bad.more, "null");
    EXPECT_EQ(outcome.code, 2) << bad.text;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(bad.text));
  }
  const Outcome still = run_lull({"denoise", "-i", folder_ / "b0.ppm", "-o", folder_ / "out.png",
                                  "--sigma", "25", "--align", "--keep", "0"});
  EXPECT_EQ(still.code, 2);
  EXPECT_THAT(still.err, HasSubstr("it is one picture"));
}

}  // namespace
}  // namespace lull::tools
