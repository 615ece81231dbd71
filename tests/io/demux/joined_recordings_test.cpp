// Tests that transport streams of several recordings become one clip without gaps.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "io/jobs.h"
#include "io/support/clip.h"
#include "io/support/segment_jobs.h"

namespace lull::io::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Returns a recording of one second whose timestamps begin at `start_s`.
ClipSpec recording(double start_s, const std::string& encoder = "mpeg2video") {
  ClipSpec spec;
  spec.frames = 25;
  spec.encoder = encoder;
  spec.audio = "mp2";
  spec.muxer_options = {{"output_ts_offset", std::to_string(start_s)}, {"mpegts_copyts", "1"}};
  return spec;
}

void append(std::vector<std::uint8_t>& bytes, const std::string& path) {
  const std::vector<std::uint8_t> more = read_file(path);
  bytes.insert(bytes.end(), more.begin(), more.end());
}

std::int64_t first_time(const std::string& path, AVMediaType type) {
  std::int64_t first = INT64_MAX;
  for (const StreamRecord& stream : read_packets(path))
    if (stream.type == type)
      for (const PacketRecord& packet : stream.packets) first = std::min(first, packet.pts_us);
  return first;
}

std::vector<double> steps(const Decoded& decoded) {
  std::vector<double> all;
  for (std::size_t i = 1; i < decoded.pictures.size(); ++i)
    all.push_back(decoded.pictures[i].time - decoded.pictures[i - 1].time);
  return all;
}

class Joined : public testing::TestWithParam<std::pair<double, double>> {
 protected:
  void SetUp() override {
    make_clip(a, recording(GetParam().first));
    make_clip(b, recording(GetParam().second));
    std::vector<std::uint8_t> bytes = read_file(a);
    append(bytes, b);
    write_file(in, bytes);
  }
  /// Compares the distance of the last audio packet of the second recording from its first frame in
  /// `out` with the distance in the recording itself.
  void expect_synchronous(const std::string& out, double video_start_s) const {
    const StreamRecord sound = read_packets(b)[1];
    const PacketRecord last = sound.packets.back();
    const double expected =
        static_cast<double>(last.pts_us - first_time(b, AVMEDIA_TYPE_VIDEO)) * 1e-6;
    int sounds = 0;
    for (const StreamRecord& stream : read_packets(out)) {
      if (stream.type != AVMEDIA_TYPE_AUDIO) continue;
      ++sounds;
      ASSERT_FALSE(stream.packets.empty());
      ASSERT_EQ(stream.packets.back().hash, last.hash);
      EXPECT_NEAR(static_cast<double>(stream.packets.back().pts_us) * 1e-6 - video_start_s,
                  expected, 0.0011);
      for (std::size_t i = 1; i < stream.packets.size(); ++i)
        EXPECT_LT(stream.packets[i].pts_us - stream.packets[i - 1].pts_us, 48000 + 1000);
    }
    EXPECT_EQ(sounds, 1);
  }

  const TemporaryFolder folder;
  const std::string a = folder / "a.ts", b = folder / "b.ts", in = folder / "in.ts";
};

TEST_P(Joined, ContinueAfterOneFrameInEveryContainer) {
  for (const char* name : {"out.mkv", "out.mp4", "out.mov", "out.ts"}) {
    SCOPED_TRACE(name);
    const auto source = open_source(in);
    const auto sink = open_sink(folder / name, *source, {.vcodec = "mpeg4"});
    while (auto frame = source->read()) sink->write(*std::move(frame));
    sink->finish();
    ASSERT_THAT(source->clock_jumps(), SizeIs(1));
    EXPECT_THAT(source->clock_jumps().front(), HasSubstr("jumps at 1.00 s (from "));
    const Decoded decoded = decode(folder / name);
    ASSERT_THAT(decoded.pictures, SizeIs(50));
    for (const double step : steps(decoded)) EXPECT_NEAR(step, 0.04, 0.0011);
    expect_synchronous(folder / name, decoded.pictures[25].time);
  }
}

// A job in segments reads the input a second time, for the audio.
TEST_P(Joined, SegmentsGiveTheSameFramesAndAudio) {
  (void)run(
      {in, folder / "direct.mkv", {}, {.lossless = true, .segments = SegmentOptions{.frames = 60}}},
      false);
  (void)run(
      {in, folder / "parts.mkv", {}, {.lossless = true, .segments = SegmentOptions{.frames = 7}}},
      false);
  const Decoded whole = decode(folder / "direct.mkv"), parts = decode(folder / "parts.mkv");
  ASSERT_THAT(parts.pictures, SizeIs(50));
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(parts.pictures[i].bytes, whole.pictures[i].bytes) << i;
    EXPECT_DOUBLE_EQ(parts.pictures[i].time, whole.pictures[i].time) << i;
  }
  expect_synchronous(folder / "parts.mkv", parts.pictures[25].time);
  const auto direct = read_packets(folder / "direct.mkv"),
             in_parts = read_packets(folder / "parts.mkv");
  ASSERT_EQ(in_parts.size(), direct.size());
  EXPECT_EQ(in_parts[1].packets, direct[1].packets);
}

TEST_P(Joined, PlanDecodesFromTheStart) {
  const auto index = std::make_shared<FrameIndex>();
  const auto source = open_source(in, {.recorded_index = index});
  const auto plan = std::make_shared<JobPlan>();
  SinkOptions options{.vcodec = "ffv1"};
  options.segments = SegmentOptions{
      .frames = 10, .part = JobPart::plan, .folder = folder / "job", .plan = plan, .input = in};
  const auto sink = open_sink(folder / "out.mkv", *source, options);
  while (auto frame = source->read()) {
    frame->pixels.reset();
    frame->planes = {};
    sink->write(*std::move(frame));
  }
  sink->finish();
  EXPECT_EQ(plan->index.no_seek_reason, "its clock jumps");
  ASSERT_THAT(index->pictures, SizeIs(50));
  EXPECT_EQ(index->pictures[25].pts - index->pictures[24].pts, 3600);
}

INSTANTIATE_TEST_SUITE_P(Clocks, Joined,
                         testing::Values(std::pair(95000., 20.), std::pair(20., 95000.),
                                         std::pair(50., 50.), std::pair(50., 49.5),
                                         std::pair(100., 130.)),
                         [](const auto& info) {
                           return "From" + std::to_string(static_cast<int>(info.param.first)) +
                                  "To" + std::to_string(static_cast<int>(10 * info.param.second));
                         });

TEST(JoinedRecordings, ThreeGiveTwoJumps) {
  const TemporaryFolder folder;
  std::vector<std::uint8_t> bytes;
  for (const double start : {500., 20., 9000.}) {
    make_clip(folder / "part.ts", recording(start));
    append(bytes, folder / "part.ts");
  }
  write_file(folder / "in.ts", bytes);
  const auto source = open_source(folder / "in.ts");
  int frames = 0;
  while (source->read()) ++frames;
  EXPECT_EQ(frames, 75);
  EXPECT_THAT(source->clock_jumps(),
              ElementsAre(HasSubstr("jumps at 1.00 s"), HasSubstr("jumps at 2.00 s")));
}

TEST(JoinedRecordings, WithReorderedFramesKeepTheirOrder) {
  if (!has_encoder("libx264")) GTEST_SKIP() << "FFmpeg lacks libx264";
  const TemporaryFolder folder;
  std::vector<std::uint8_t> bytes;
  for (const double start : {95000., 30.}) {
    ClipSpec spec = recording(start, "libx264");
    spec.encoder_options = {{"bf", "2"}, {"preset", "ultrafast"}};
    make_clip(folder / "part.ts", spec);
    append(bytes, folder / "part.ts");
  }
  write_file(folder / "in.ts", bytes);
  transcode(folder / "in.ts", folder / "out.mkv", {.vcodec = "mpeg4"});
  const Decoded decoded = decode(folder / "out.mkv");
  ASSERT_THAT(decoded.pictures, SizeIs(50));
  for (const double step : steps(decoded)) EXPECT_NEAR(step, 0.04, 0.0011);
}

TEST(JoinedRecordings, KeepTimesKeepsAGap) {
  const TemporaryFolder folder;
  make_clip(folder / "a.ts", recording(100));
  make_clip(folder / "b.ts", recording(130));
  std::vector<std::uint8_t> bytes = read_file(folder / "a.ts");
  append(bytes, folder / "b.ts");
  write_file(folder / "in.ts", bytes);
  const auto source = open_source(folder / "in.ts", {.keep_times = true});
  const auto sink = open_sink(folder / "out.mkv", *source, {.vcodec = "mpeg4", .keep_times = true});
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  EXPECT_THAT(source->clock_jumps(), IsEmpty());
  const Decoded decoded = decode(folder / "out.mkv");
  EXPECT_NEAR(decoded.pictures.front().time, 100, 0.001);
  EXPECT_NEAR(decoded.pictures[25].time, 130, 0.001);
}

TEST(JoinedRecordings, ClockThatWrapsAroundIsReported) {
  const TemporaryFolder folder;
  make_clip(folder / "in.ts", recording(static_cast<double>(std::int64_t{1} << 33) / 90000 - 0.4));
  const auto source = open_source(folder / "in.ts");
  const auto sink = open_sink(folder / "out.mkv", *source, {.vcodec = "mpeg4"});
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  EXPECT_THAT(source->clock_jumps(), ElementsAre(HasSubstr("wraps around at 0.4")));
  const Decoded decoded = decode(folder / "out.mkv");
  ASSERT_THAT(decoded.pictures, SizeIs(25));
  for (const double step : steps(decoded)) EXPECT_NEAR(step, 0.04, 0.0011);
}

}  // namespace
}  // namespace lull::io::test
