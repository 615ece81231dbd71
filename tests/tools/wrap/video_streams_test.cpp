// lull denoise of files with several video streams: one that the user chooses, or each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr FrameFormat format{
    .width = 64, .height = 48, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
constexpr int frames = 6;

Frame clean_frame(int number, double phase) { return clean_picture(format, phase + 0.1 * number); }

/// Returns the frames of a video stream of a file.
std::vector<Frame> frames_of_stream(const std::string& path, int stream) {
  const auto source = io::open_source(path, {.video = stream});
  std::vector<Frame> all;
  while (auto frame = source->read()) all.push_back(std::move(*frame));
  return all;
}

/// Returns the root of the mean squared error of luma.
double error_of(const std::vector<Frame>& clip, double phase) {
  double sum = 0;
  for (int n = 0; n < std::ssize(clip); ++n) {
    const Frame clean = clean_frame(n, phase);
    const auto a = clip[static_cast<std::size_t>(n)].plane<std::uint8_t>(0),
               b = clean.plane<std::uint8_t>(0);
    for (int y = 0; y < a.height; ++y)
      for (int x = 0; x < a.width; ++x) sum += std::pow(a(x, y) - b(x, y), 2);
  }
  return std::sqrt(sum / (static_cast<double>(clip.size()) * format.width * format.height));
}

/// Returns all packets of a stream together; containers divide sound differently.
std::string bytes_of_stream(const FileFacts& file, std::size_t stream) {
  std::string all;
  for (const std::string& packet : file.streams[stream].packets) all += packet;
  return all;
}

class VideoStreams : public ::testing::Test {
 protected:
  /// Writes in.EXTENSION with two videos of different noise.
  void write(const std::string& extension, bool cover = false) const {
    write_video("first", 0, 10);
    write_video("second", 2, 25);
    join_videos(folder_ / "first.mkv", folder_ / "second.mkv", folder_ / ("in." + extension),
                cover);
  }
  void write_video(const std::string& name, double phase, double sigma) const {
    std::vector<Frame> clip;
    for (int i = 0; i < frames; ++i)
      clip.push_back(noisy_picture(clean_frame(i, phase), sigma, static_cast<unsigned>(i + 1)));
    write_y4m(folder_ / (name + ".y4m"), clip);
    convert(folder_ / (name + ".y4m"), folder_ / (name + ".mkv"),
            {.vcodec = "mpeg4",
             .vopts = {{"b", "20000000"}, {"qmin", "1"}, {"qmax", "1"}},
             .overwrite = true});
  }
  Outcome denoise(const std::string& from, const std::string& to, const Words& more) const {
    Words words{"denoise", folder_ / from, folder_ / to, "--device", "cpu", "--progress", "none"};
    words.insert(words.end(), more.begin(), more.end());
    return run_lull(words);
  }
  Folder folder_;
};

TEST_F(VideoStreams, EachIsDenoisedWithItsOwnNoise) {
  for (const std::string extension : {"mkv", "mp4", "mov"}) {
    write(extension);
    const std::string in = folder_ / ("in." + extension), out = folder_ / ("out." + extension);
    const Outcome outcome =
        denoise("in." + extension, "out." + extension, {"--video", "all", "-y"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const FileFacts before = facts_of(in), after = facts_of(out);
    ASSERT_EQ(after.streams.size(), before.streams.size()) << extension;
    for (std::size_t i = 0; i < before.streams.size(); ++i) {
      EXPECT_EQ(after.streams[i].type, before.streams[i].type) << extension;
      if (before.streams[i].type != "video") continue;
      EXPECT_EQ(after.streams[i].pts_ms, before.streams[i].pts_ms) << extension << i;
    }
    const int second = extension == "mp4" ? 1 : 2;
    if (second == 2) {
      EXPECT_EQ(bytes_of_stream(after, 1), bytes_of_stream(before, 1));
    }
    EXPECT_LT(error_of(frames_of_stream(out, 0), 0), 0.7 * error_of(frames_of_stream(in, 0), 0));
    EXPECT_LT(error_of(frames_of_stream(out, second), 2),
              0.5 * error_of(frames_of_stream(in, second), 2));
    EXPECT_EQ(outcome.err.find("not denoised"), outcome.err.npos);
    EXPECT_THAT(outcome.err, HasSubstr("video stream 1 of 2"));
    EXPECT_THAT(outcome.err, HasSubstr("video stream 2 of 2"));
    for (const std::string& name : folder_.names()) EXPECT_EQ(name.find(".tmp"), name.npos) << name;
  }
}

TEST_F(VideoStreams, CoversAreCopied) {
  write("mkv", true);
  const Outcome outcome = denoise("in.mkv", "out.mkv", {"--video", "all"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const FileFacts before = facts_of(folder_ / "in.mkv"), after = facts_of(folder_ / "out.mkv");
  ASSERT_EQ(after.streams.size(), 4u);
  EXPECT_EQ(after.streams[3].codec, "png");
  EXPECT_EQ(after.streams[3].packets, before.streams[3].packets);
  EXPECT_THAT(outcome.err, HasSubstr("video stream 2 of 2"));
  EXPECT_THAT(outcome.err, HasSubstr("out.mkv: 6 frames"));
}

TEST_F(VideoStreams, ChosenStreamIsDenoisedAndTheOthersAreCopied) {
  write("mkv");
  const FileFacts before = facts_of(folder_ / "in.mkv");
  for (const int stream : {0, 2}) {
    const Outcome outcome =
        denoise("in.mkv", "out.mkv", {"-y", "--lossless", "--video", std::to_string(stream)});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const int other = 2 - stream;
    const FileFacts after = facts_of(folder_ / "out.mkv");
    ASSERT_EQ(after.streams.size(), 3u);
    EXPECT_EQ(after.streams[1].type, "audio");
    EXPECT_EQ(after.streams[static_cast<std::size_t>(other)].packets,
              before.streams[static_cast<std::size_t>(other)].packets);
    EXPECT_THAT(outcome.err, HasSubstr("stream " + std::to_string(other) +
                                       " (video, mpeg4) is copied, not denoised"));
    // The result equals that of a file with this stream only.
    const std::string name = stream == 0 ? "first.mkv" : "second.mkv";
    ASSERT_EQ(denoise(name, "alone.mkv", {"-y", "--lossless"}).code, 0);
    const std::vector<Frame> chosen = frames_of_stream(folder_ / "out.mkv", stream),
                             alone = frames_of(folder_ / "alone.mkv");
    ASSERT_EQ(chosen.size(), alone.size());
    for (std::size_t n = 0; n < alone.size(); ++n)
      for (int y = 0; y < format.height; ++y)
        for (int x = 0; x < format.width; ++x)
          ASSERT_EQ(chosen[n].plane<std::uint8_t>(0)(x, y), alone[n].plane<std::uint8_t>(0)(x, y));
  }
}

TEST_F(VideoStreams, DroppedStreamsAreNotDenoised) {
  write("mkv");
  for (const Words& drop : {Words{"--drop", "2"}, Words{"--drop", "video"}}) {
    Words words{"--video", "all", "-y"};
    words.insert(words.end(), drop.begin(), drop.end());
    const Outcome outcome = denoise("in.mkv", "out.mkv", words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const FileFacts after = facts_of(folder_ / "out.mkv");
    ASSERT_EQ(after.streams.size(), 2u);
    EXPECT_LT(error_of(frames_of(folder_ / "out.mkv"), 0), 6);
  }
}

TEST_F(VideoStreams, ProbePredictsWhichAreDenoised) {
  write("mkv");
  const auto denoised = [&](const Words& more) {
    Words words{"probe", folder_ / "in.mkv"};
    words.insert(words.end(), more.begin(), more.end());
    const std::string text = run_lull(words).out;
    int count = 0;
    for (std::size_t at = 0; (at = text.find(": denoised\n", at)) != text.npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(denoised({}), 1);
  EXPECT_EQ(denoised({"--video", "2"}), 1);
  EXPECT_EQ(denoised({"--video", "all"}), 2);
}

TEST_F(VideoStreams, InvalidRequestsAreRejected) {
  write("mkv");
  const auto refused = [&](const Words& more, const std::string& text,
                           const std::string& to = "out.mkv") {
    const Outcome outcome = denoise("in.mkv", to, more);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  };
  refused({"--video", "1"}, "its video streams have the numbers: 0, 2");
  refused({"--video", "7"}, "its video streams have the numbers: 0, 2");
  refused({"--video", "x"}, "must be the number of a stream");
  refused({"--video", "all", "--segment-frames", "4"}, "a job has one video stream");
  refused({"--video", "all", "--report", folder_ / "r.html"}, "a report shows one video stream");
  write_bytes(folder_ / "out.mkv", "existing");
  const Outcome outcome = denoise("in.mkv", "out.mkv", {"--video", "all"});
  EXPECT_EQ(outcome.code, 73) << outcome.err;
  EXPECT_EQ(bytes_of(folder_ / "out.mkv"), "existing");
}

}  // namespace
}  // namespace lull::tools
