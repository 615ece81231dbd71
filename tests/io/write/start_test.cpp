// Tests inputs that begin before time 0 and keep their times: no frame is lost, and sound stays
// synchronised.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/support/clip.h"
#include "io/support/side_data.h"

namespace lull::io::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Returns a clip with frames from `first_s` on and sound from 0 on.
ClipSpec clip_starting_at(double first_s, double frame_s = 0.04, AVRational tick = {1, 1000}) {
  ClipSpec spec;
  spec.frames = 75;
  spec.time_base = tick;
  for (int i = 0; i < spec.frames; ++i)
    spec.pts.push_back(std::llround((first_s + i * frame_s) / av_q2d(tick)));
  spec.muxer_options = {{"avoid_negative_ts", "disabled"}};
  return spec;
}

/// Muxer options for an MPEG-TS file that begins `seconds` before its timestamps wrap around, at
/// 2^33 ticks of 1/90000 s.
std::vector<std::pair<std::string, std::string>> before_wrap(double seconds) {
  const double offset = static_cast<double>(std::int64_t{1} << 33) / 90000 - seconds;
  return {{"output_ts_offset", std::to_string(offset)}, {"mpegts_copyts", "1"}};
}

/// Returns the start of a stream according to its packets, in seconds.
double start_of(const std::string& path, AVMediaType type) {
  for (const StreamRecord& stream : read_packets(path)) {
    if (stream.type != type) continue;
    std::int64_t first = INT64_MAX;
    for (const PacketRecord& packet : stream.packets) first = std::min(first, packet.pts_us);
    return static_cast<double>(first) * 1e-6;
  }
  return NAN;
}

double sound_offset(const std::string& path) {
  return start_of(path, AVMEDIA_TYPE_AUDIO) - start_of(path, AVMEDIA_TYPE_VIDEO);
}

class NegativeStart : public testing::TestWithParam<const char*> {};

TEST_P(NegativeStart, KeepsAllFramesAndSynchronisation) {
  const TemporaryFolder folder;
  ClipSpec spec = clip_starting_at(-1.04);
  spec.audio = "pcm_s16le";
  spec.audio_seconds = 2;
  if (std::string(GetParam()) != "mov") spec.audio = "mp2";
  spec.decorate = add_chapter;
  make_clip(folder / "in.mkv", spec);
  ASSERT_NEAR(start_of(folder / "in.mkv", AVMEDIA_TYPE_VIDEO), -1.04, 0.001);
  for (const std::string encoder : {"mpeg4", "libx264"}) {
    if (!has_encoder(encoder.c_str())) continue;
    SCOPED_TRACE(encoder);
    const std::string out = folder / (encoder + "." + GetParam());
    const auto losses = convert(folder / "in.mkv", out, {.vcodec = encoder, .keep_times = true});
    EXPECT_THAT(losses, Contains(HasSubstr("all streams begin 1.04")));
    const Decoded decoded = decode(out);
    EXPECT_EQ(decoded.pictures.size(), 75u);
    EXPECT_NEAR(decoded.pictures.front().time, 0, 0.1);  // MPEG-TS begins later because of B-frames
    EXPECT_NEAR(sound_offset(out), sound_offset(folder / "in.mkv"), 0.001);
    EXPECT_NEAR(decoded.pictures.back().time - decoded.pictures.front().time, 74 * 0.04, 0.001);
  }
}

TEST_P(NegativeStart, EarlySoundAlsoShiftsTheVideo) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 75;
  spec.encoder = "mpeg2video";
  for (int i = 0; i < spec.frames; ++i) spec.pts.push_back(25 + i);
  spec.audio = "mp2";
  spec.audio_seconds = 3;
  // The video begins 0.52 s before the wrap, which is an integer number of frames.
  spec.muxer_options = before_wrap(1.52);
  make_clip(folder / "in.ts", spec);
  ASSERT_NEAR(start_of(folder / "in.ts", AVMEDIA_TYPE_AUDIO), -1.52, 0.03);
  const std::string out = folder / (std::string("out.") + GetParam());
  EXPECT_THAT(convert(folder / "in.ts", out, {.vcodec = "mpeg4", .keep_times = true}),
              Contains(HasSubstr("all streams begin 1.5")));
  EXPECT_EQ(decode(out).pictures.size(), 75u);
  EXPECT_NEAR(sound_offset(out), sound_offset(folder / "in.ts"), 0.001);
  EXPECT_GE(start_of(out, AVMEDIA_TYPE_AUDIO), -0.001);
}

INSTANTIATE_TEST_SUITE_P(Containers, NegativeStart,
                         testing::Values("mp4", "mov", "ts", "mkv", "nut"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Start, TransportStreamAcrossItsClockWrapKeepsAllFrames) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 75;
  spec.encoder = "mpeg2video";
  spec.muxer_options = before_wrap(1);
  spec.audio = "mp2";
  spec.audio_seconds = 3;
  make_clip(folder / "in.ts", spec);
  ASSERT_LT(start_of(folder / "in.ts", AVMEDIA_TYPE_VIDEO), -0.5);
  for (const char* name : {"out.mp4", "out.mov"}) {
    SCOPED_TRACE(name);
    convert(folder / "in.ts", folder / name, {.vcodec = "mpeg4", .keep_times = true});
    EXPECT_EQ(decode(folder / name).pictures.size(), 75u);
    EXPECT_NEAR(sound_offset(folder / name), sound_offset(folder / "in.ts"), 0.001);
  }
}

// In Matroska a timestamp is stored relative to its cluster, in 16 bits of milliseconds.
TEST(Start, FarBeforeZeroKeepsAllFrames) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 75;
  spec.encoder = "mpeg2video";
  for (int i = 0; i < spec.frames; ++i) spec.pts.push_back(25 * i);
  spec.muxer_options = before_wrap(50);
  make_clip(folder / "far.ts", spec);
  ASSERT_LT(start_of(folder / "far.ts", AVMEDIA_TYPE_VIDEO), -33);
  EXPECT_THAT(
      convert(folder / "far.ts", folder / "far.mkv", {.vcodec = "mpeg4", .keep_times = true}),
      Contains(HasSubstr("start time")));
  const Decoded decoded = decode(folder / "far.mkv");
  ASSERT_EQ(decoded.pictures.size(), 75u);
  EXPECT_NEAR(decoded.pictures.back().time - decoded.pictures.front().time, 74, 0.01);
}

// The delay of an audio encoder is not audible, because an edit list hides it.
TEST(Start, EncoderDelayOfSoundIsKept) {
  const TemporaryFolder folder;
  ClipSpec spec = clip_starting_at(0);
  spec.audio = "aac";  // begins 1024 samples before 0
  make_clip(folder / "in.mkv", spec);
  EXPECT_THAT(
      convert(folder / "in.mkv", folder / "out.mp4", {.vcodec = "mpeg4", .keep_times = true}),
      Not(Contains(HasSubstr("start time"))));
  EXPECT_NEAR(decode(folder / "out.mp4").pictures.front().time, 0, 0.001);
  ASSERT_NEAR(sound_offset(folder / "in.mkv"), -1024.0 / 48000, 0.001);
  EXPECT_NEAR(sound_offset(folder / "out.mp4"), sound_offset(folder / "in.mkv"), 0.001);
}

TEST(Start, SegmentedOutputKeepsSynchronisation) {
  const TemporaryFolder folder;
  ClipSpec spec = clip_starting_at(-1);
  spec.audio = "mp2";
  make_clip(folder / "in.mkv", spec);
  convert(folder / "in.mkv", folder / "out.mp4",
          {.vcodec = "mpeg4", .keep_times = true, .segments = SegmentOptions{.frames = 20}});
  EXPECT_EQ(decode(folder / "out.mp4").pictures.size(), 75u);
  EXPECT_NEAR(sound_offset(folder / "out.mp4"), sound_offset(folder / "in.mkv"), 0.001);
}

}  // namespace
}  // namespace lull::io::test
