// Tests parts of a video with temporal filtering: each frame must have the same bytes as in the
// complete clip, so that several machines may divide a clip with --frames.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

constexpr FrameFormat format{.width = 40, .height = 32};
constexpr int count = 44;

class FrameSelection : public ::testing::Test {
 protected:
  /// Creates moving pictures. Some of them repeat the previous picture.
  FrameSelection() {
    for (int n = 0; n < count; ++n) {
      const bool again = n % 7 == 3 || n % 7 == 4;
      frames_.push_back(again ? frames_.back()
                              : noisy_picture(clean_picture(format, 0.05 * n), 20, n + 1));
    }
    write_y4m(folder_ / "in.y4m", frames_);
  }

  Outcome denoise(const std::string& in, const std::string& out,
                  const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"denoise",    "-q",
                                       "-y",         "-i",
                                       folder_ / in, "-o",
                                       out,          "--sigma",
                                       "20",         "-d",
                                       "cpu",        "--profile",
                                       "fast",       "--window",
                                       "9",          "--step",
                                       "6",          "--temporal",
                                       "2",          "--phases",
                                       "1",          "--temporal-window",
                                       "5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_lull(arguments);
  }

  /// Returns the digests of the samples of all frames, in order.
  std::vector<std::string> digests(const std::vector<std::string>& more,
                                   const std::string& in = "in.y4m") {
    const Outcome outcome = denoise(in, "hash", more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::vector<std::string> result;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string number, pts, digest;
      words >> number >> pts >> digest;
      if (number != "#" && number != "all") result.push_back(digest);
    }
    return result;
  }

  std::vector<std::string> some(const std::vector<std::string>& all,
                                const std::vector<std::pair<int, int>>& ranges) {
    std::vector<std::string> result;
    for (const auto& [first, last] : ranges)
      result.insert(result.end(), all.begin() + first, all.begin() + std::min(last + 1, count));
    return result;
  }

  const Folder folder_;
  std::vector<Frame> frames_;
};

TEST_F(FrameSelection, GivesTheFramesOfTheCompleteClip) {
  const auto whole = digests({});
  ASSERT_EQ(whole.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(digests({"--frames", "2-4,9-"}), some(whole, {{2, 4}, {9, count - 1}}));
  EXPECT_EQ(digests({"--frames", "20-22"}), some(whole, {{20, 22}}));
  EXPECT_EQ(digests({"--frames", "0-1,13,40-99"}), some(whole, {{0, 1}, {13, 13}, {40, 99}}));
  // The clip has 25 frames per second.
  EXPECT_EQ(digests({"--start", "0.8", "--duration", "0.12"}), some(whole, {{20, 22}}));
  EXPECT_EQ(digests({"--start", "1.6"}), some(whole, {{40, 43}}));
}

TEST_F(FrameSelection, GivesTheFieldsOfTheCompleteClip) {
  const auto whole = digests({"--interlaced", "fields"});
  EXPECT_EQ(digests({"--interlaced", "fields", "--frames", "3,21-23"}),
            some(whole, {{3, 3}, {21, 23}}));
}

TEST_F(FrameSelection, GivesThePicturesOfTheCompleteSequence) {
  for (int n = 0; n < count; ++n)
    write_pnm(folder_ / ("in." + std::to_string(100 + n) + ".pgm"), frames_[n]);
  ASSERT_EQ(denoise("in.%d.pgm", folder_ / "whole.%d.pgm", {}).code, 0);
  // Files outside the selection may already exist, for example if several machines write into one
  // folder.
  write_bytes(folder_ / "part.100.pgm", "another's");
  const Outcome part = denoise("in.%d.pgm", folder_ / "part.%d.pgm", {"--frames", "20-21,30"});
  ASSERT_EQ(part.code, 0) << part.err;
  std::vector<std::string> names;
  for (const std::string& name : folder_.names())
    if (name.starts_with("part.")) names.push_back(name);
  EXPECT_THAT(names, ::testing::ElementsAre("part.100.pgm", "part.120.pgm", "part.121.pgm",
                                            "part.130.pgm"));
  EXPECT_EQ(bytes_of(folder_ / "part.100.pgm"), "another's");
  for (const char* number : {"120", "121", "130"})
    EXPECT_EQ(bytes_of(folder_ / (std::string("part.") + number + ".pgm")),
              bytes_of(folder_ / (std::string("whole.") + number + ".pgm")))
        << number;
}

TEST_F(FrameSelection, GivesTheSameFramesInSegments) {
  ASSERT_EQ(denoise("in.y4m", folder_ / "whole.mkv", {"--lossless"}).code, 0);
  const Outcome part = denoise("in.y4m", folder_ / "part.mkv",
                               {"--lossless", "--frames", "18-30", "--segment-frames", "5"});
  ASSERT_EQ(part.code, 0) << part.err;
  const std::vector<Frame> whole = frames_of(folder_ / "whole.mkv");
  const std::vector<Frame> frames = frames_of(folder_ / "part.mkv");
  ASSERT_EQ(frames.size(), 13u);
  for (int n = 0; n < 13; ++n)
    EXPECT_TRUE(lull::test_support::same_samples(frames[n], whole[18 + n])) << n;
}

TEST_F(FrameSelection, WritesASingleFrameAsPicture) {
  for (const std::vector<std::string>& part :
       {std::vector<std::string>{"--frames", "20"}, {"--start", "0.8", "--duration", "0.04"}}) {
    const Outcome outcome = denoise("in.y4m", folder_ / "one.png", part);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(frames_of(folder_ / "one.png").size(), 1u);
  }
  // If several frames are selected, the picture is the first frame, and a message reports this.
  const Outcome outcome = denoise("in.y4m", folder_ / "two.png", {"--frames", "20-21"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(bytes_of(folder_ / "two.png"), bytes_of(folder_ / "one.png"));
}

TEST_F(FrameSelection, IsAnErrorIfEmpty) {
  const Outcome outcome = denoise("in.y4m", folder_ / "out.mkv", {"--frames", "44-"});
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.err, HasSubstr("no frame is selected"));
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"in.y4m"});
}

// lull stops to decode after the period, so the message must not state how many frames exist.
TEST_F(FrameSelection, WithoutAFrameInThePeriodStatesNoNumberOfFrames) {
  const Outcome outcome =
      denoise("in.y4m", folder_ / "out.mkv", {"--start", "0.41", "--duration", "0.01"});
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.err, HasSubstr("begins in this period"));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("has ")));
}

// Data after the margin of the last frame is not decoded.
TEST_F(FrameSelection, DoesNotDecodeBeyondTheMargin) {
  std::string bytes = bytes_of(folder_ / "in.y4m");
  const std::size_t frame = bytes.size() / count;
  // From frame 36 on the data is invalid.
  for (std::size_t at = bytes.size() - 8 * frame; at < bytes.size(); ++at) bytes[at] = 'x';
  write_bytes(folder_ / "bad.y4m", bytes);
  const auto whole = digests({});
  EXPECT_EQ(digests({"--frames", "2-4"}, "bad.y4m"), some(whole, {{2, 4}}));
  EXPECT_EQ(denoise("bad.y4m", "hash", {"--frames", "30-34"}).code, 65);
}

}  // namespace
}  // namespace lull::tools
