// Tests jobs that several processes share: the output must have the bytes of a single process, for
// any order and number of times in which segments are encoded, by any process and from any copy of
// the input.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "tools/support/clips.h"
#include "tools/support/mounted.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr FrameFormat format{
    .width = 64, .height = 48, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

/// Returns a clip with repeated frames and a scene cut.
std::vector<Frame> clip(int frames) {
  std::vector<Frame> result;
  for (int i = 0; i < frames; ++i) {
    if (i % 11 == 4 && i > 0)
      result.push_back(result.back());
    else
      result.push_back(
          noisy_picture(clean_picture(format, 0.05 * i + (i < frames / 2 ? 0 : 2)), 20, i + 1));
  }
  return result;
}

class Farm : public testing::Test {
 protected:
  static constexpr int frames = 72, segment = 10, segments = 8;

  void SetUp() override { write_y4m(folder_ / "video.y4m", clip(frames)); }
  /// Encodes the clip; `vopts` determine keyframes and B-frames.
  std::string make(const std::string& name, const io::SinkOptions& options) {
    convert(folder_ / "video.y4m", folder_ / name, options);
    return folder_ / name;
  }
  std::string make_input_with_streams() {
    add_other_streams(make("plain.mkv", {.lossless = true}), folder_ / "in.mkv");
    return folder_ / "in.mkv";
  }
  static Words options() {
    return {"--sigma", "20", "--profile", "fast", "--device", "cpu", "--segment-frames", "10"};
  }
  static Outcome run(Words words, const Words& more = {}) {
    words.insert(words.end(), more.begin(), more.end());
    return run_lull(words);
  }
  std::string whole(const std::string& in, const Words& more = {}) const {
    const std::string out = folder_ / "whole.mkv";
    Words words = {"denoise", "-i", in, "-o", out, "-y", "-q"};
    const Words fixed = options();
    words.insert(words.end(), fixed.begin(), fixed.end());
    const Outcome outcome = run(words, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return bytes_of(out);
  }
  Outcome plan(const std::string& in, const Words& more = {}) const {
    Words words = {"plan", in, "-o", out_, "--job", job_, "--progress", "none"};
    const Words fixed = options();
    words.insert(words.end(), fixed.begin(), fixed.end());
    return run(words, more);
  }
  Outcome task(const std::string& which, const Words& more = {}) const {
    return run({"denoise", "--job", job_, "--segment", which, "--progress", "none"}, more);
  }
  Outcome join(const Words& more = {}) const { return run({"join", job_}, more); }
  std::string file(int number) const {
    return job_ + "/00000" + std::to_string(number) + ".lullseg";
  }

  Folder folder_;
  const std::string out_ = folder_ / "out.mkv", job_ = folder_ / "job";
};

TEST_F(Farm, SegmentsInAnyOrderAndTwiceGiveEqualBytes) {
  const std::string in = make_input_with_streams();
  const std::string expected = whole(in, {"--temporal", "1"});
  const Outcome planned = plan(in, {"--temporal", "1", "--json"});
  ASSERT_EQ(planned.code, 0) << planned.err;
  const auto facts = nlohmann::json::parse(planned.out);
  EXPECT_EQ(facts["segments"], segments);
  EXPECT_EQ(facts["last_segment"], segments - 1);
  EXPECT_EQ(facts["frames"], frames);
  for (const std::string which : {"5", "7", "0-1", "3", "6", "3", "2", "4", "0-7"}) {
    const Outcome outcome = task(which);
    EXPECT_EQ(outcome.code, 0) << which << outcome.err;
  }
  EXPECT_FALSE(fs::exists(out_));
  ASSERT_EQ(join().code, 0);
  EXPECT_EQ(bytes_of(out_), expected);
  // The complete sequence runs once more and finds no work.
  EXPECT_EQ(plan(in, {"--temporal", "1"}).code, 0);
  EXPECT_THAT(task("4").err, HasSubstr("all segments are done"));
  EXPECT_EQ(join().code, 0);
  fs::last_write_time(out_, fs::last_write_time(out_) + std::chrono::hours(1));
  EXPECT_EQ(join().code, 0);  // recognised by its bytes
  EXPECT_EQ(bytes_of(out_), expected);
  write_bytes(out_, "mine");
  EXPECT_EQ(join().code, 73);
  EXPECT_EQ(bytes_of(out_), "mine");
  EXPECT_EQ(join({"-y"}).code, 0);
  EXPECT_EQ(bytes_of(out_), expected);
}

TEST_F(Farm, ConcurrentTasksAndJoinsGiveEqualBytes) {
  const std::string in = make_input_with_streams();
  const std::string expected = whole(in);
  ASSERT_EQ(plan(in).code, 0);
  {
    std::vector<std::unique_ptr<Program>> all;
    for (const std::string which : {"0-3", "2-5", "4-7", "2-5"})
      all.push_back(std::make_unique<Program>(
          Words{"denoise", "--job", job_, "--segment", which, "-q", "--threads", "1"}));
    for (const auto& program : all) {
      const Outcome outcome = program->wait();
      EXPECT_EQ(outcome.code, 0) << outcome.err;
    }
    std::vector<std::unique_ptr<Program>> joins;
    for (int i = 0; i < 3; ++i) joins.push_back(std::make_unique<Program>(Words{"join", job_}));
    for (const auto& program : joins) EXPECT_EQ(program->wait().code, 0);
  }
  EXPECT_EQ(bytes_of(out_), expected);
  EXPECT_EQ(join().code, 0);
}

TEST_F(Farm, JoinNamesMissingAndDamagedSegments) {
  const std::string in = make_input_with_streams();
  const std::string expected = whole(in);
  ASSERT_EQ(plan(in).code, 0);
  ASSERT_EQ(task("0-7").code, 0);
  fs::remove(file(1));
  fs::remove(file(2));
  std::mt19937 random(3);
  for (int i = 0; i < 3; ++i) {
    std::string bytes = bytes_of(file(4));
    if (i == 0)
      bytes.resize(bytes.size() / 2);
    else
      bytes[random() % bytes.size()] ^= 1;
    write_bytes(file(4), bytes);
    const Outcome refused = join();
    EXPECT_EQ(refused.code, 75);
    EXPECT_EQ(refused.error_lines(), 1);
    EXPECT_THAT(refused.err, HasSubstr("segments 1-2 are missing, segment 4 is damaged"));
    EXPECT_FALSE(fs::exists(out_));
    EXPECT_EQ(task("4").code, 0);
  }
  // Without a number, the command makes all unfinished segments.
  ASSERT_EQ(run({"denoise", "--job", job_, "-q"}).code, 0);
  ASSERT_EQ(join().code, 0);
  EXPECT_EQ(bytes_of(out_), expected);
}

TEST_F(Farm, FullDiskIsATemporaryFailure) {
  const std::string in = make_input_with_streams();
  const std::string expected = whole(in);
  ASSERT_EQ(plan(in).code, 0);
  const std::string plan = bytes_of(job_ + "/plan");
  {
    const Mounted disk(job_, 24 << 10);
    if (!disk.problem().empty()) GTEST_SKIP() << disk.problem();
    write_bytes(job_ + "/plan", plan);
    const Outcome full = task("0-7");
    EXPECT_EQ(full.code, 75) << full.err;
    EXPECT_EQ(full.error_lines(), 1) << full.err;
  }
  ASSERT_EQ(task("0-7").code, 0);
  ASSERT_EQ(join().code, 0);
  EXPECT_EQ(bytes_of(out_), expected);
}

struct Decoding {
  int pictures = -1, from = -1;
};
Decoding decoding_of(const std::string& err) {
  Decoding result;
  int all = 0;
  const std::size_t at = err.find("decoded ");
  if (at != err.npos)
    std::sscanf(err.c_str() + at, "decoded %d of %d pictures, starting at %d", &result.pictures,
                &all, &result.from);
  return result;
}

/// Inputs of one clip, and the number of pictures that all tasks together may decode.
struct Kind {
  std::string name;
  io::SinkOptions sink;
  int most;
};

class FarmSeeks : public Farm, public testing::WithParamInterface<Kind> {};
// Groups of 12 pictures: each task decodes its own 10 pictures, up to 5 of the margin, up to 11
// before them, and 4 plus the reordered ones after them.
INSTANTIATE_TEST_SUITE_P(
    Kinds, FarmSeeks,
    testing::Values(
        Kind{
            "open_gop.mkv",
            {.vcodec = "libx264",
             .vopts = {{"x264-params", "keyint=12:min-keyint=12:scenecut=0:bframes=3:open-gop=1"}}},
            360},
        Kind{"hevc.mkv",
             {.vcodec = "libx265",
              .vopts = {{"x265-params", "keyint=12:min-keyint=12:scenecut=0:bframes=3"}}},
             360},
        Kind{"mpeg2.ts", {.vcodec = "mpeg2video", .vopts = {{"g", "12"}, {"bf", "2"}}}, 400},
        Kind{"moving.mp4",
             {.vcodec = "libx264", .vopts = {{"x264-params", "keyint=12:scenecut=0:bframes=3"}}},
             360},
        Kind{"every.mkv", {.vopts = {{"g", "1"}}, .lossless = true}, 280},
        Kind{"video.y4m", {}, 280}),
    [](const auto& info) { return info.param.name.substr(0, info.param.name.find('.')); });

TEST_P(FarmSeeks, GiveTheBytesOfOneProcess) {
  const Kind& kind = GetParam();
  const std::string in =
      kind.name == "video.y4m" ? folder_ / kind.name : make(kind.name, kind.sink);
  const Words more = {"--temporal", "1"};
  const std::string expected = whole(in, more);
  ASSERT_EQ(plan(in, more).code, 0);
  int pictures = 0;
  for (int k = segments; k-- > 0;) {
    const Outcome outcome = task(std::to_string(k), {"--threads", "1"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, testing::Not(HasSubstr("from the start")));
    const Decoding decoding = decoding_of(outcome.err);
    EXPECT_GE(decoding.pictures, k == segments - 1 ? 2 : segment);
    if (k > 3) {
      EXPECT_GT(decoding.from, 0) << outcome.err;
    }
    pictures += decoding.pictures;
  }
  RecordProperty("pictures", pictures);
  EXPECT_LE(pictures, kind.most);
  ASSERT_EQ(join().code, 0);
  EXPECT_TRUE(bytes_of(out_) == expected);
}

TEST_F(Farm, OtherKindsOfJobsGiveEqualBytes) {
  const std::string in = make_input_with_streams();
  const std::string gop =
      make("gop.mkv", {.vcodec = "libx264", .vopts = {{"x264-params", "keyint=12:scenecut=0"}}});
  const std::pair<std::string, Words> jobs[] = {
      {in, {"--frames", "5-24,40-"}},
      {gop, {"--frames", "5-24,40-60", "--temporal", "1"}},
      {gop, {"--start", "0.6", "--temporal", "1"}},
      {in, {"--interlaced", "fields", "--temporal", "1"}},
      {gop, {"--vcodec", "ffv1", "--phases", "1"}},
  };
  for (const auto& [input, more] : jobs) {
    SCOPED_TRACE(testing::PrintToString(more));
    const std::string expected = whole(input, more);
    const Outcome planned = plan(input, more);
    ASSERT_EQ(planned.code, 0) << planned.err;
    ASSERT_EQ(task("1-2").code, 0);
    ASSERT_EQ(run({"denoise", "--job", job_, "-q"}).code, 0);
    const Outcome joined = join();
    ASSERT_EQ(joined.code, 0) << joined.err;
    EXPECT_TRUE(bytes_of(out_) == expected);
    fs::remove(out_);
    fs::remove_all(job_);
  }
}

// The number of frames that the reader is ahead of the selection is random.
TEST_F(Farm, PlanOfASelectionIsReproducible) {
  const std::string in = make_input_with_streams();
  std::set<std::string> plans;
  for (int i = 0; i < 4; ++i) {
    const Outcome planned = plan(in, {"--frames", "5-14", "--temporal", "1"});
    ASSERT_EQ(planned.code, 0) << planned.err;
    plans.insert(bytes_of(job_ + "/plan"));
    fs::remove_all(job_);
  }
  EXPECT_EQ(plans.size(), 1U);
}

// The noise is estimated only once, by the process that plans the job.
TEST_F(Farm, TasksUseThePlannedNoise) {
  const std::string in = make_input_with_streams();
  Words words = {"denoise",  "-i",  in,          "-o",   folder_ / "whole.mkv", "-q",
                 "--device", "cpu", "--profile", "fast", "--segment-frames",    "10"};
  ASSERT_EQ(run(words).code, 0);
  words[0] = "plan";
  words[4] = out_;
  ASSERT_EQ(run(words, {"--job", job_}).code, 0);
  EXPECT_THAT(bytes_of(job_ + "/plan"), HasSubstr("fact the%20noise "));
  for (const std::string which : {"4-7", "0-3"}) ASSERT_EQ(task(which).code, 0);
  ASSERT_EQ(join().code, 0);
  EXPECT_EQ(bytes_of(out_), bytes_of(folder_ / "whole.mkv"));
}

TEST_F(Farm, FileAsJobFolderIsRejectedBeforeReading) {
  write_bytes(job_, "no folder");
  const Outcome outcome = plan(folder_ / "no such file");
  EXPECT_EQ(outcome.code, 73);
  EXPECT_THAT(outcome.err, HasSubstr("a file has that name"));
  EXPECT_EQ(bytes_of(job_), "no folder");
}

TEST_F(Farm, MovedInputAndJobCanBeGiven) {
  const std::string in = make_input_with_streams();
  const std::string expected = whole(in);
  ASSERT_EQ(plan(in).code, 0);
  fs::rename(in, folder_ / "moved.mkv");
  EXPECT_EQ(task("0").code, 66);
  ASSERT_EQ(task("0-7", {"-i", folder_ / "moved.mkv"}).code, 0);
  ASSERT_EQ(join({"-i", folder_ / "moved.mkv", "-o", folder_ / "other.mkv"}).code, 0);
  EXPECT_EQ(bytes_of(folder_ / "other.mkv"), expected);
}

TEST_F(Farm, InvalidRequestsAreRejectedInOneLine) {
  const std::string in = make_input_with_streams();
  ASSERT_EQ(plan(in).code, 0);
  const auto refused = [](const Outcome& outcome, int code, const std::string& text) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  };
  refused(task("8"), 2, "has 8, counted from 0");
  refused(task("3-1"), 2, "--segment 3-1");
  refused(task("0", {"--sigma", "21"}), 2, "--sigma (of 0..255) was 20:20:20 and is 21:21:21");
  refused(task("0", {"--crf", "30"}), 2, "--crf was none and is 30");
  refused(task("0", {"-o", out_}), 2, "--job with the output");
  refused(task("0", {"--resume"}), 2, "--resume");
  refused(run({"denoise", "-i", in, "-o", out_, "--sigma", "5", "--segment", "1"}), 2, "--job");
  refused(run({"denoise", "--job", folder_ / "none", "--segment", "0"}), 66, "no plan");
  refused(run({"join", folder_ / "none"}), 66, "no plan");
  refused(run({"plan", in, "-o", out_, "--sigma", "5", "--segment-frames", "9"}), 2, "--job");
  refused(run({"plan", in, "-o", out_, "--sigma", "5", "--job", job_}), 2, "--segment-frames");
  refused(plan(in, {"--temporal", "1"}), 73, "another plan (--window was");
  // The input changed in its middle and kept its size.
  std::string bytes = bytes_of(in);
  bytes[bytes.size() / 2] ^= 1;
  write_bytes(in, bytes);
  refused(task("0"), 2, "the input was");
}

}  // namespace
}  // namespace lull::tools
