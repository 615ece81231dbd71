// Tests damaged and truncated input: the frames that can be decoded are filtered, damage is
// counted, and the output gets its final name only if the options allow this amount of damage.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int frames = 20;

class DamagedInput : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<Frame> pictures;
    for (int i = 0; i < frames; ++i)
      pictures.push_back(noisy_picture(clean_picture({.width = 64, .height = 48}), 20, i + 1));
    write_y4m(folder_ / "in.y4m", pictures);
    convert(folder_ / "in.y4m", folder_ / "in.mkv", {.lossless = true});
    bytes_ = bytes_of(folder_ / "in.mkv");
  }
  /// Flips bits in the middle of a frame. The position in the file follows from the frame's number,
  /// because the file contains little else than frames of equal size.
  void damage_frame(int frame) {
    const std::size_t at = bytes_.size() * (2 * frame + 1) / (2 * frames);
    for (std::size_t i = at; i < at + 4; ++i) bytes_[i] = static_cast<char>(bytes_[i] ^ 0x5a);
    write_bytes(folder_ / "in.mkv", bytes_);
  }
  Outcome run(const std::vector<std::string>& more, const std::string& in = "in.mkv",
              const std::string& out = "out.mkv") const {
    std::vector<std::string> all{"denoise",     "-i",        folder_ / in, "-o",
                                 folder_ / out, "--sigma",   "10",         "--device",
                                 "cpu",         "--profile", "fast",       "--lossless"};
    all.insert(all.end(), more.begin(), more.end());
    return run_lull(all);
  }
  /// Returns the file next to the output. It contains the frames that could be denoised.
  std::string kept() const {
    std::string found;
    for (const std::string& name : folder_.names())
      if (name.starts_with("out.partial")) found = folder_ / name;
    return found;
  }
  void expect_refused(const Outcome& outcome) const {
    EXPECT_EQ(outcome.code, 65) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out.mkv"));
    ASSERT_NE(kept(), "");
    EXPECT_THAT(outcome.err, HasSubstr(kept()));
  }
  Folder folder_;
  std::string bytes_;
};

TEST_F(DamagedInput, UndamagedInputGivesNoMessage) {
  const Outcome outcome = run({"--max-decode-errors", "5", "--log-level", "warning"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, Not(HasSubstr("damaged")));
}

TEST_F(DamagedInput, DamagedFrameIsCountedAndTheResultKeptSeparately) {
  damage_frame(7);
  const Outcome outcome = run({"-q"});
  expect_refused(outcome);
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("--max-decode-errors 1 accepts it"));
  std::filesystem::rename(kept(), folder_ / "kept.mkv");
  EXPECT_GE(frames_of(folder_ / "kept.mkv").size(), frames - 1u);
}

TEST_F(DamagedInput, AllowedNumberOfDamagedFramesIsAccepted) {
  damage_frame(5);
  damage_frame(6);
  damage_frame(15);
  expect_refused(run({"--max-decode-errors", "2"}));
  std::filesystem::remove(kept());
  const Outcome outcome = run({"--max-decode-errors", "3", "--progress", "json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("\"damaged_frames\":3"));
  EXPECT_THAT(outcome.err, HasSubstr("warning: 3 frames of '"));
  EXPECT_EQ(kept(), "");
  EXPECT_GE(frames_of(folder_ / "out.mkv").size(), frames - 3u);
}

// The remaining frames are filtered as in a run over the complete file.
TEST_F(DamagedInput, TruncationEndsTheResult) {
  ASSERT_EQ(run({}, "in.mkv", "whole.mkv").code, 0);
  write_bytes(folder_ / "in.mkv", bytes_.substr(0, bytes_.size() / 2));
  const Outcome outcome = run({});
  expect_refused(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("cut short"));
  std::filesystem::remove(kept());
  // Half of the frames are missing, not only one.
  expect_refused(run({"--max-decode-errors", "5"}));
  std::filesystem::remove(kept());
  ASSERT_EQ(run({"--max-decode-errors", "15"}).code, 0);
  const std::vector<Frame> whole = frames_of(folder_ / "whole.mkv");
  const std::vector<Frame> part = frames_of(folder_ / "out.mkv");
  ASSERT_GE(part.size(), 5u);
  ASSERT_LT(part.size(), frames - 5u);
  for (std::size_t i = 0; i + 1 < part.size(); ++i)  // the last one may be damaged
    for (int p = 0; p < part[i].format.planes(); ++p)
      for (int y = 0; y < part[i].planes[p].height; ++y)
        ASSERT_TRUE(std::equal(part[i].planes[p].row(y),
                               part[i].planes[p].row(y) + part[i].planes[p].width,
                               whole[i].planes[p].row(y)))
            << i;
}

TEST_F(DamagedInput, PipesCarryTheDecodableFrames) {
  damage_frame(7);
  const std::string fifo = folder_ / "in.fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  write_bytes(folder_ / "out.y4m", "");
  std::thread writer([&] { write_bytes(fifo, bytes_); });
  const Outcome outcome = run_lull({"denoise", "-i", fifo, "-o", "-", "--sigma", "10", "--device",
                                    "cpu", "--profile", "fast", "--max-decode-errors", "0"},
                                   {.out_file = folder_ / "out.y4m"});
  writer.join();
  EXPECT_EQ(outcome.code, 65) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("--max-decode-errors 1 accepts it"));
  EXPECT_GE(frames_of(folder_ / "out.y4m").size(), frames - 1u);
}

// Frames after the selection are not needed, but the input is truncated all the same.
TEST_F(DamagedInput, SelectionBeforeTheTruncationIsComplete) {
  write_bytes(folder_ / "in.mkv", bytes_.substr(0, bytes_.size() / 2));
  expect_refused(run({"--frames", "1-4"}));
  std::filesystem::remove(kept());
  const Outcome outcome = run({"--frames", "1-4", "--max-decode-errors", "1"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(frames_of(folder_ / "out.mkv").size(), 4u);
}

TEST_F(DamagedInput, RejectedInputHasNoTotalDigest) {
  damage_frame(7);
  const auto digests = [&](const std::string& allowed) {
    return run_lull({"denoise", "-i", folder_ / "in.mkv", "-o", "hash", "--sigma", "10", "--device",
                     "cpu", "--profile", "fast", "--max-decode-errors", allowed});
  };
  const Outcome refused = digests("0"), accepted = digests("1");
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_THAT(refused.out, Not(HasSubstr("\nall ")));
  EXPECT_EQ(accepted.code, 0) << accepted.err;
  EXPECT_THAT(accepted.out, HasSubstr("\nall "));
}

TEST_F(DamagedInput, DamagedPictureOfASequenceIsAnError) {
  convert(folder_ / "in.y4m", folder_ / "p.%04d.png", {});
  std::string picture = bytes_of(folder_ / "p.0007.png");
  picture[picture.size() / 2] = static_cast<char>(picture[picture.size() / 2] ^ 0x5a);
  write_bytes(folder_ / "p.0007.png", picture);
  const Outcome outcome = run({"--max-decode-errors", "100", "-q"}, "p.%04d.png");
  EXPECT_EQ(outcome.code, 65) << outcome.err;
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("p.0007.png"));
  EXPECT_EQ(kept(), "");
}

TEST_F(DamagedInput, InputWithoutFramesLeavesNoFile) {
  write_bytes(folder_ / "in.mkv", bytes_.substr(0, 600));
  const Outcome outcome = run({"--max-decode-errors", "1000", "-q"});
  EXPECT_EQ(outcome.code, 65);
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  EXPECT_EQ(kept(), "");
}

TEST_F(DamagedInput, InvalidLimitsAreRejected) {
  for (const char* number : {"-1", "x", "", "1.5"})
    EXPECT_EQ(run({"--max-decode-errors", number}).code, 2) << number;
}

}  // namespace
}  // namespace lull::tools
