// Tests the command on clips and bursts with temporal filtering.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

constexpr FrameFormat format{.width = 80, .height = 64};
constexpr int count = 6;

struct TemporalOption : ::testing::Test {
  TemporalOption() {
    std::vector<Frame> frames;
    for (int n = 0; n < count; ++n) {
      frames.push_back(noisy_picture(clean, 20, n + 1));
      write_pnm(folder / ("shot_" + std::to_string(n) + ".pgm"), frames.back());
    }
    write_y4m(folder / "noisy.y4m", frames);
  }
  Outcome denoise(const std::string& from, const std::string& to, std::vector<std::string> more) {
    more.insert(more.begin(), {"denoise", "-q", "-y", "-i", folder / from, "-o", folder / to,
                               "--sigma", "20", "--device", "cpu"});
    return run_lull(more);
  }
  double psnr_of(const Frame& frame) const {
    return lull::test_support::psnr(lull::test_support::plane_of(clean, 0).view(),
                                    lull::test_support::plane_of(frame, 0).view());
  }
  /// Expects that every frame of the clip is better with the default radius than with radius 0.
  void expect_gain(const std::vector<std::string>& options) {
    std::vector<std::string> frame_by_frame = options;
    frame_by_frame.insert(frame_by_frame.end(), {"--temporal", "0"});
    const Outcome alone = denoise("noisy.y4m", "alone.y4m", frame_by_frame);
    ASSERT_EQ(alone.code, 0) << alone.err;
    const Outcome together = denoise("noisy.y4m", "together.y4m", options);
    ASSERT_EQ(together.code, 0) << together.err;
    const auto before = frames_of(folder / "alone.y4m"), after = frames_of(folder / "together.y4m");
    ASSERT_EQ(after.size(), static_cast<std::size_t>(count));
    for (int n = 0; n < count; ++n) {
      EXPECT_GT(psnr_of(after[n]), psnr_of(before[n]) + 0.7) << n;
      EXPECT_EQ(after[n].pts, before[n].pts);
    }
  }

  Folder folder;
  const Frame clean = clean_picture(format);
};

TEST_F(TemporalOption, NeighbouringFramesImproveEveryFrame) { expect_gain({}); }

TEST_F(TemporalOption, KeepWritesOneFrameOfASequence) {
  const Outcome all = denoise("shot_*.pgm", "out_%04d.pgm", {"--temporal", "4"});
  ASSERT_EQ(all.code, 0) << all.err;
  const Outcome one = denoise("shot_*.pgm", "one.pgm", {"--temporal", "4", "--keep", "3"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(bytes_of(folder / "one.pgm"), bytes_of(folder / "out_0003.pgm"));
}

TEST_F(TemporalOption, MissingFrameToKeepIsAnError) {
  const Outcome outcome = denoise("shot_*.pgm", "one.pgm", {"--keep", "6"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--keep 6 (the input has 6 frames"));
  EXPECT_THAT(folder.names(), ::testing::Not(::testing::Contains(HasSubstr("one.pgm"))));
}

TEST_F(TemporalOption, NeighbouringFieldsImproveEveryField) {
  expect_gain({"--interlaced", "fields"});
}

}  // namespace
}  // namespace lull::tools
