// Tests segmented jobs with side inputs for each frame: every frame gets its own side input,
// wherever a process begins, and the output has the bytes of a single process.

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfOutputFile.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

class SideInputsInJobs : public testing::Test {
 protected:
  static Outcome run(Words words, const Words& more = {}) {
    words.insert(words.end(), more.begin(), more.end());
    return run_lull(words);
  }
  /// Returns the segmented output of one process.
  std::string whole(const Words& more) const {
    const Outcome outcome = run(
        {"denoise", "-i", in_, "-o", folder_ / "whole.mkv", "-y", "-q", "--device", "cpu"}, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return bytes_of(folder_ / "whole.mkv");
  }
  Outcome plan(const Words& more) const {
    return run({"plan", in_, "-o", out_, "--job", job_, "--device", "cpu", "--progress", "none"},
               more);
  }
  Outcome task(const std::string& which, const Words& more = {}) const {
    return run({"denoise", "--job", job_, "--segment", which, "--progress", "none"}, more);
  }
  /// Runs the plan, the tasks from the last to the first, and the join. The job folder is then
  /// deleted.
  void expect_shared(const std::string& expected, const Words& more, int segments,
                     const Words& of_tasks = {}) {
    const Outcome planned = plan(more);
    ASSERT_EQ(planned.code, 0) << planned.err;
    for (int k = segments; k-- > 0;) {
      const Outcome outcome = task(std::to_string(k), of_tasks);
      ASSERT_EQ(outcome.code, 0) << k << outcome.err;
      EXPECT_THAT(outcome.err, Not(HasSubstr("from the start")));
    }
    const Outcome joined = run({"join", job_, "-q"});
    ASSERT_EQ(joined.code, 0) << joined.err;
    EXPECT_TRUE(bytes_of(out_) == expected);
    fs::remove(out_);
    fs::remove_all(job_);
  }
  /// Runs a job that is killed when a segment is finished, and resumes it.
  void expect_resumed(const std::string& expected, Words more) {
    more.push_back("--resume");
    Words words = {"denoise", "-i", in_, "-o", out_, "-q", "--device", "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    Program program(words);
    const std::string manifest = out_ + ".lull-job/manifest";
    while (program.running() &&
           !(fs::exists(manifest) && bytes_of(manifest).find("\nsegment ") != std::string::npos))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    program.send(SIGKILL);
    const int code = program.wait().code;
    ASSERT_TRUE(code == 128 + SIGKILL || code == 0) << code;  // it may have been faster
    const Outcome outcome = run_lull(words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(bytes_of(out_) == expected);
    fs::remove(out_);
  }
  static void expect_refused(const Outcome& outcome, int code, const std::string& text) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  }

  Folder folder_;
  std::string in_;
  const std::string out_ = folder_ / "out.mkv", job_ = folder_ / "job";
};

/// A clip whose frames all have different matches, with another clip as its guide, which has
/// different groups.
class GuideInJobs : public SideInputsInJobs {
 protected:
  static constexpr FrameFormat format{
      .width = 64, .height = 48, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
  static constexpr int frames = 40, segments = 4;
  static constexpr const char* guide_groups =
      "keyint=11:min-keyint=11:scenecut=0:bframes=3:open-gop=1";

  void SetUp() override {
    std::vector<Frame> noisy;
    for (int i = 0; i < frames; ++i) {
      const bool repeats = i % 7 == 3;
      const Frame picture = clean_picture(format, 0.3 * i);
      noisy.push_back(repeats ? noisy.back() : noisy_picture(picture, 20, i + 1));
      clean_.push_back(picture);
    }
    in_ = encoded("in", noisy, "keyint=8:min-keyint=8:scenecut=0:bframes=2");
    guide_ = encoded("guide", clean_, guide_groups);
  }
  std::string encoded(const std::string& name, const std::vector<Frame>& all,
                      const std::string& groups) {
    write_y4m(folder_ / (name + ".y4m"), all);
    convert(folder_ / (name + ".y4m"), folder_ / (name + ".mkv"),
            {.vcodec = "libx264", .vopts = {{"x264-params", groups}}});
    return folder_ / (name + ".mkv");
  }
  Words options(const Words& more = {}) const {
    Words all = {"--guide",   guide_, "--sigma",          "20", "--temporal", "1",
                 "--profile", "fast", "--segment-frames", "10"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<Frame> clean_;
  std::string guide_;
};

TEST_F(GuideInJobs, GivesTheBytesOfOneProcess) {
  const std::string expected = whole(options());
  EXPECT_NE(expected, whole({"--sigma", "20", "--temporal", "1", "--profile", "fast",
                             "--segment-frames", "10"}));
  expect_shared(expected, options(), segments);
  expect_resumed(expected, options());
}

TEST_F(GuideInJobs, GivesTheBytesOfOneProcessWithNlm) {
  const Words nlm = options({"--method", "nlm"});
  const std::string expected = whole(nlm);
  expect_shared(expected, nlm, segments);
  expect_resumed(expected, nlm);
}

TEST_F(GuideInJobs, GivesTheBytesOfOneProcessForSelections) {
  for (const Words& part : {Words{"--frames", "5-14,20-"}, Words{"--start", "0.4"}})
    expect_shared(whole(options(part)), options(part), 3);
  Words alone = options({"--frames", "5-34"});
  *(std::ranges::find(alone, "--temporal") + 1) = "0";  // no margins
  expect_shared(whole(alone), alone, 3);
}

TEST_F(GuideInJobs, IsReadFromTheStartIfSeekingIsUnreliable) {
  convert(guide_, folder_ / "guide.h264",
          {.vcodec = "libx264", .vopts = {{"x264-params", "keyint=11:scenecut=0"}}});
  guide_ = folder_ / "guide.h264";
  const std::string expected = whole(options());
  ASSERT_EQ(plan(options()).code, 0);
  const Outcome last = task("3");
  EXPECT_EQ(last.code, 0);
  EXPECT_THAT(last.err, HasSubstr("decoding from the start (seeking in '" + guide_));
  ASSERT_EQ(task("0-2").code, 0);
  ASSERT_EQ(run({"join", job_, "-q"}).code, 0);
  EXPECT_TRUE(bytes_of(out_) == expected);
}

TEST_F(GuideInJobs, MayBeMovedButMustBeTheSameFile) {
  const std::string expected = whole(options());
  const Outcome planned = plan(options({"--json"}));
  ASSERT_EQ(planned.code, 0) << planned.err;
  const auto facts = nlohmann::json::parse(planned.out);
  EXPECT_EQ(facts["beside"]["--guide"], guide_);
  EXPECT_THAT(std::string(facts["facts"]["--guide"]), HasSubstr("bytes, SHA-256"));
  const std::string moved = folder_ / "moved.mkv";
  fs::rename(guide_, moved);
  expect_refused(task("1"), 66, "guide.mkv");
  expect_refused(task("1", {"--guide", in_}), 2, "--guide was");
  std::string bytes = bytes_of(moved);
  bytes[bytes.size() / 2] ^= 1;
  write_bytes(folder_ / "damaged.mkv", bytes);
  // The decoder of some versions of FFmpeg notices the damage before the comparison.
  const Outcome damaged = task("1", {"--guide", folder_ / "damaged.mkv"});
  if (damaged.code == 65)
    expect_refused(damaged, 65, "is damaged");
  else
    expect_refused(damaged, 2, "--guide was");
  std::vector<Frame> other = clean_;
  other[20] = clean_picture(format, 0.1);
  const std::string changed = encoded("changed", other, guide_groups);
  expect_refused(task("1", {"--guide", changed}), 2, "--guide was");
  ASSERT_EQ(task("0-3", {"--guide", moved}).code, 0);
  ASSERT_EQ(run({"join", job_, "-q"}).code, 0);
  EXPECT_TRUE(bytes_of(out_) == expected);
}

TEST_F(GuideInJobs, MustNotChangeInAResumedJob) {
  const Words words = options({"--resume"});
  Words begun = {"denoise", "-i", in_, "-o", out_, "-q", "--device", "cpu"};
  begun.insert(begun.end(), words.begin(), words.end());
  expect_resumed(whole(options()), options());
  ASSERT_EQ(run(begun).code, 0);
  ASSERT_EQ(run(begun).code, 0);  // done already
  write_bytes(guide_, bytes_of(folder_ / "in.mkv"));
  EXPECT_EQ(run(begun).code, 73);  // the output of another job
}

TEST_F(GuideInJobs, UnsuitableGuideIsRejectedWhenTheJobIsPlanned) {
  std::vector<Frame> few;
  for (int i = 0; i < frames - 1; ++i) few.push_back(clean_picture(format, 0.3 * i));
  write_y4m(folder_ / "short.y4m", few);
  guide_ = folder_ / "short.y4m";
  expect_refused(plan(options()), 65, "the guide ends after 39 frames");
  guide_ = folder_ / "none.mkv";
  expect_refused(plan(options()), 66, "none.mkv");
  EXPECT_FALSE(fs::exists(job_ + "/plan"));
}

/// A sequence of renders whose layers and side file differ from frame to frame; some frames occur
/// twice.
class RendersInJobs : public SideInputsInJobs {
 protected:
  static constexpr int width = 48, height = 32, frames = 18, segments = 3;

  void SetUp() override {
    for (int i = 0; i < frames; ++i) {
      const int drawn = i % 5 == 2 ? i - 1 : i;
      char number[8];
      std::snprintf(number, sizeof number, "%04d", i + 10);
      std::mt19937 random(static_cast<unsigned>(drawn));
      std::normal_distribution<float> gauss;
      std::map<std::string, std::vector<float>> render, normal;
      for (int c = 0; c < 3; ++c) {
        const std::string suffix(1, "RGB"[c]);
        for (int at = 0; at < width * height; ++at) {
          const int x = at % width + drawn, y = at / width;
          const float albedo = (x / 4 + y / 4) % 2 == 0 ? 0.9f : 0.3f, s = 0.3f * albedo;
          render[suffix].push_back(albedo + s * gauss(random));
          render["albedo." + suffix].push_back(albedo);
          render["variance." + suffix].push_back(s * s);
          normal[suffix].push_back(x / 16 % 3 == c ? 1.0f : 0.0f);
        }
      }
      write(folder_ / ("render." + std::string(number) + ".exr"), render);
      write(folder_ / ("normal." + std::string(number) + ".exr"), normal);
    }
    in_ = folder_ / "render.%04d.exr";
  }
  static void write(const std::string& path, std::map<std::string, std::vector<float>>& channels) {
    Imf::Header header(width, height);
    Imf::FrameBuffer buffer;
    for (auto& [name, samples] : channels) {
      header.channels().insert(name, Imf::Channel(Imf::FLOAT));
      buffer.insert(name,
                    Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(samples.data()), 4, 4 * width));
    }
    Imf::OutputFile file(path.c_str(), header);
    file.setFrameBuffer(buffer);
    file.writePixels(height);
  }
  Words options(const std::string& method, const Words& more = {}) const {
    Words all = {
        "--guide",          "auto",    "--feature",  "normal=" + folder_ / "normal.%04d.exr",
        "--method",         method,    "--temporal", "1",
        "--segment-frames", "6",       "--vcodec",   "ffv1",
        "--pix-fmt",        "gbrp16le"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(RendersInJobs, GiveTheBytesOfOneProcess) {
  const std::string expected = whole(options("nlm"));
  expect_shared(expected, options("nlm"), segments);
  expect_resumed(expected, options("nlm"));
}

TEST_F(RendersInJobs, GiveTheBytesOfOneProcessWithBm3d) {
  const std::string expected = whole(options("bm3d"));
  expect_shared(expected, options("bm3d"), segments);
  expect_resumed(expected, options("bm3d"));
}

TEST_F(RendersInJobs, MustUseThePlannedFeatures) {
  ASSERT_EQ(plan(options("nlm")).code, 0);
  expect_refused(task("1", {"--strength", "2"}), 2, "--sigma (of 0..255) was 12");
  expect_refused(task("1", {"--feature", "normal=:albedo"}), 2, "--feature normal was");
  expect_refused(task("1", {"--feature", "normal=" + in_}), 2, "--feature normal was");
  fs::create_directory(folder_ / "there");
  for (const std::string& name : folder_.names())
    if (name.starts_with("normal.")) fs::rename(folder_ / name, folder_ / ("there/" + name));
  expect_refused(task("1"), 66, "normal.");
  const Outcome moved = task("1", {"--feature", "normal=" + folder_ / "there/normal.%04d.exr"});
  EXPECT_EQ(moved.code, 0) << moved.err;
  // A layer other than the picture has changed in a file that a task reads.
  std::map<std::string, std::vector<float>> other;
  for (const char* name : {"R", "G", "B", "albedo.R", "albedo.G", "albedo.B"})
    other[name] = std::vector<float>(width * height, 0.5f);
  write(folder_ / "render.0024.exr", other);
  expect_refused(task("2", {"--feature", "normal=" + folder_ / "there/normal.%04d.exr"}), 2,
                 "the input was");
}

}  // namespace
}  // namespace lull::tools
