// Tests that outputs begin at 0 like those of the ffmpeg command, and that streams keep their
// distances.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/support/clip.h"
#include "io/support/ffprobe.h"
#include "io/support/side_data.h"

namespace lull::io::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using MuxerOptions = std::vector<std::pair<std::string, std::string>>;

/// Returns a clip whose timestamps begin at `offset_s`, with video from `video_s` on and audio
/// from 0 on.
ClipSpec clip(double offset_s, double video_s, const std::string& audio, AVRational tick) {
  ClipSpec spec;
  spec.frames = 30;
  spec.time_base = tick;
  for (int i = 0; i < spec.frames; ++i)
    spec.pts.push_back(std::llround((video_s + i * 0.04) / av_q2d(tick)));
  spec.audio = audio;
  spec.audio_seconds = 1.5;
  spec.muxer_options = {{"output_ts_offset", std::to_string(offset_s)}};
  return spec;
}

/// Starts of the streams as libavformat reports them, without samples that are not heard.
struct Starts {
  double video = NAN, audio = NAN, earliest = INFINITY;
};

Starts starts_of(const std::string& path) {
  AVFormatContext* context = nullptr;
  if (avformat_open_input(&context, ("file:" + path).c_str(), nullptr, nullptr) < 0)
    throw std::runtime_error(path);
  (void)avformat_find_stream_info(context, nullptr);
  Starts starts;
  for (unsigned i = 0; i < context->nb_streams; ++i) {
    const AVStream& stream = *context->streams[i];
    const double start = static_cast<double>(stream.start_time) * av_q2d(stream.time_base);
    const bool is_video = stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
    (is_video ? starts.video : starts.audio) = start;
    starts.earliest = std::min(starts.earliest, start);
  }
  avformat_close_input(&context);
  return starts;
}

double offset_of(const Starts& starts) { return starts.video - starts.audio; }

std::vector<std::string> notes_of(const std::string& in, const std::string& out,
                                  const SinkOptions& options) {
  const auto source = open_source(in, {.keep_times = options.keep_times});
  const auto sink = open_sink(out, *source, options);
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  EXPECT_THAT(sink->losses(), Not(Contains(HasSubstr("start time"))));
  return sink->notes();
}

class StartAtZero : public testing::TestWithParam<const char*> {
 protected:
  const TemporaryFolder folder;
  const std::string out = folder / (std::string("out.") + GetParam());
  const std::string audio = std::string(GetParam()) == "mov" ? "pcm_s16le" : "flac";
  /// MP4 and MOV store times of audio by sample, Matroska by millisecond.
  const double tolerance = std::string(GetParam()) == "mkv" ? 0.0011 : 1e-5;
};

TEST_P(StartAtZero, ClockOfATransportStreamIsRemoved) {
  for (const double offset : {20., 95000.}) {
    for (const char* encoder : {"mpeg4", "libx264"}) {
      if (!has_encoder(encoder)) continue;
      SCOPED_TRACE(encoder + std::to_string(offset));
      ClipSpec spec = clip(offset, 0.25, "mp2", {1, 25});
      spec.encoder = "mpeg2video";
      spec.pts.clear();
      spec.muxer_options.emplace_back("mpegts_copyts", "1");
      make_clip(folder / "in.ts", spec);
      const Starts before = starts_of(folder / "in.ts");
      ASSERT_NEAR(before.earliest, offset, 0.1);
      EXPECT_THAT(notes_of(folder / "in.ts", out, {.vcodec = encoder, .overwrite = true}),
                  Contains(HasSubstr("the output begins at 0 (the input begins at ")));
      const Starts after = starts_of(out);
      // Times of FFmpeg's MPEG-4 encoder are multiples of a frame duration here. All streams begin
      // later, so that they stay synchronised.
      const double latest = std::string(encoder) == "mpeg4" ? 0.04 : tolerance;
      EXPECT_GE(after.earliest, -1e-9);
      EXPECT_LE(after.earliest, latest);
      EXPECT_NEAR(offset_of(after), offset_of(before), tolerance);
      const Decoded decoded = decode(out);
      ASSERT_EQ(decoded.pictures.size(), 30u);
      EXPECT_NEAR(decoded.pictures.back().time - decoded.pictures.front().time, 29 * 0.04, 0.0011);
    }
  }
}

TEST_P(StartAtZero, AudioBeforeTheVideoBeginsAtZero) {
  make_clip(folder / "in.mkv", clip(10, 0.48, audio, {1, 1000}));
  const Starts before = starts_of(folder / "in.mkv");
  ASSERT_NEAR(before.audio, 10, 1e-6);
  notes_of(folder / "in.mkv", out, {.vcodec = "mpeg4"});
  const Starts after = starts_of(out);
  EXPECT_NEAR(after.audio, 0, tolerance);
  EXPECT_NEAR(after.video, 0.48, tolerance);
}

TEST_P(StartAtZero, VideoBeforeTheAudioBeginsAtZero) {
  ClipSpec spec = clip(10, -0.48, audio, {1, 1000});
  make_clip(folder / "in.mkv", spec);
  ASSERT_NEAR(offset_of(starts_of(folder / "in.mkv")), -0.48, 1e-6);
  notes_of(folder / "in.mkv", out, {.vcodec = "mpeg4"});
  EXPECT_NEAR(starts_of(out).video, 0, tolerance);
  EXPECT_NEAR(starts_of(out).audio, 0.48, tolerance);
}

TEST_P(StartAtZero, DroppedAudioDoesNotCount) {
  make_clip(folder / "in.mkv", clip(10, 0.48, audio, {1, 1000}));
  notes_of(folder / "in.mkv", out, {.vcodec = "mpeg4", .drops = {.audio = true}});
  EXPECT_NEAR(decode(out).pictures.front().time, 0, tolerance);
}

TEST_P(StartAtZero, SelectionBeginsAtZero) {
  make_clip(folder / "in.mkv", clip(10, 0.48, audio, {1, 1000}));
  for (const bool from_start : {true, false}) {
    SCOPED_TRACE(from_start);
    const auto source =
        open_source(folder / "in.mkv", {.selection = {.ranges = {{from_start ? 0 : 5, 20}}}});
    const auto sink = open_sink(out, *source, {.vcodec = "mpeg4", .overwrite = true});
    while (auto frame = source->read()) sink->write(*std::move(frame));
    sink->finish();
    // The audio before the first frame belongs to it.
    EXPECT_NEAR(decode(out).pictures.front().time, from_start ? 0.48 : 0, tolerance);
  }
}

TEST_P(StartAtZero, InputThatBeginsAtZeroIsNotShifted) {
  ClipSpec spec = clip(0, 0.48, audio, {1, 1000});
  make_clip(folder / "in.mkv", spec);
  EXPECT_THAT(notes_of(folder / "in.mkv", out, {.vcodec = "mpeg4"}), IsEmpty());
  EXPECT_NEAR(starts_of(out).video, 0.48, tolerance);
}

TEST_P(StartAtZero, KeepTimesKeepsTheStart) {
  make_clip(folder / "in.mkv", clip(10, 0.48, audio, {1, 1000}));
  EXPECT_THAT(notes_of(folder / "in.mkv", out, {.vcodec = "mpeg4", .keep_times = true}), IsEmpty());
  EXPECT_NEAR(starts_of(out).audio, 10, tolerance);
  EXPECT_NEAR(starts_of(out).video, 10.48, tolerance);
}

TEST_P(StartAtZero, ChaptersAndSubtitlesMoveWithTheFrames) {
  if (!missing_ffprobe().empty()) GTEST_SKIP() << missing_ffprobe();
  ClipSpec spec = clip(10, 0, audio, {1, 1000});
  spec.subtitles = "srt";
  spec.decorate = [](AVFormatContext& context) {
    context.chapters = static_cast<AVChapter**>(av_calloc(2, sizeof(AVChapter*)));
    for (const std::int64_t start : {10000, 10300}) {
      auto* chapter = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
      *chapter = {.id = start, .time_base = {1, 1000}, .start = start, .end = start + 300};
      context.chapters[context.nb_chapters++] = chapter;
    }
  };
  make_clip(folder / "in.mkv", spec);
  notes_of(folder / "in.mkv", out, {.vcodec = "mpeg4"});
  const Report report(out);
  EXPECT_EQ(std::stod(report.value("chapters.chapter.0.start_time")), 0);
  EXPECT_EQ(std::stod(report.value("chapters.chapter.1.start_time")), 0.3);
  int subtitles = 0;
  for (const StreamRecord& stream : read_packets(out))
    if (stream.type == AVMEDIA_TYPE_SUBTITLE) {
      ++subtitles;
      const auto first = std::ranges::find_if(
          stream.packets, [](const PacketRecord& packet) { return packet.pts_us > 0; });
      ASSERT_NE(first, stream.packets.end());
      EXPECT_EQ(first->pts_us, 100000);
    }
  EXPECT_EQ(subtitles, 1);
}

TEST_P(StartAtZero, FramesAtVaryingTimesKeepTheirDistances) {
  ClipSpec spec = clip(10, 0, audio, {1, 1000});
  spec.pts = {0, 7, 90, 91, 300, 1000};
  spec.frames = 6;
  make_clip(folder / "in.mkv", spec);
  notes_of(folder / "in.mkv", out, {.vcodec = "mpeg4"});
  const Decoded decoded = decode(out);
  ASSERT_EQ(decoded.pictures.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(decoded.pictures[i].time, static_cast<double>(spec.pts[i]) * 1e-3, 1e-6);
}

// Encoders of a constant rate round times. The first frame must not be rounded to a later one.
TEST_P(StartAtZero, EncoderOfAConstantRateStartsExactly) {
  ClipSpec spec = clip(10, 0, audio, {1, 1000});
  for (std::int64_t& pts : spec.pts) pts += 17;
  make_clip(folder / "in.mkv", spec);
  notes_of(folder / "in.mkv", out, {.vcodec = "mpeg2video"});
  const Decoded decoded = decode(out);
  ASSERT_EQ(decoded.pictures.size(), 30u);
  EXPECT_NEAR(decoded.pictures.back().time - decoded.pictures.front().time, 29 * 0.04, 0.0011);
  EXPECT_NEAR(offset_of(starts_of(out)), 0.017, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Containers, StartAtZero, testing::Values("mp4", "mov", "mkv"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace lull::io::test
