// Tests selected parts of an input: their frames, sound and times, and the limits on the data that
// is read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

using ::testing::HasSubstr;

/// Copies the frames of `selection`; returns the notes about omitted content.
std::vector<std::string> cut(const std::string& from, const std::string& to,
                             const Selection& selection) {
  const auto source = open_source(from, {.selection = selection});
  const auto sink = open_sink(to, *source, {.lossless = true, .overwrite = true});
  while (auto frame = source->read()) sink->write(std::move(*frame));
  sink->finish();
  return sink->losses();
}

/// Returns a clip with frames of unequal duration, sound and subtitles.
ClipSpec varied() {
  ClipSpec spec;
  spec.frames = 20;
  spec.time_base = {1, 1000};
  for (int i = 0; i < spec.frames; ++i) spec.pts.push_back(40 * i + 7 * (i % 3));
  spec.audio = "flac";
  spec.audio_seconds = 0.8;
  spec.subtitles = "srt";
  return spec;
}

double time_of(const ClipSpec& spec, int frame) {
  return static_cast<double>(spec.pts[frame]) * 1e-3;
}

TEST(Selection, JoinsRangesAndKeepsFrameDurations) {
  const TemporaryFolder folder;
  const ClipSpec spec = varied();
  make_clip(folder / "in.mkv", spec);
  (void)cut(folder / "in.mkv", folder / "out.mkv", {.ranges = {{2, 4}, {7, 7}, {17}}});
  const Decoded in = decode(folder / "in.mkv"), out = decode(folder / "out.mkv");
  const std::vector<int> kept = {2, 3, 4, 7, 17, 18, 19};
  ASSERT_EQ(out.pictures.size(), kept.size());
  double expected = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(out.pictures[i].bytes, in.pictures[kept[i]].bytes) << i;
    EXPECT_NEAR(out.pictures[i].time, expected, 1e-9) << i;
    // The last frame of a range lasts until the next frame of the input, which is left out, or for
    // its own duration.
    if (i + 1 < kept.size())
      expected += std::min(time_of(spec, kept[i] + 1) - time_of(spec, kept[i]),
                           kept[i + 1] == kept[i] + 1 ? 1.0 : 0.04);
  }
}

TEST(Selection, KeepsTheSoundOfSelectedFrames) {
  const TemporaryFolder folder;
  const ClipSpec spec = varied();
  make_clip(folder / "in.mkv", spec);
  (void)cut(folder / "in.mkv", folder / "out.mkv", {.ranges = {{5, 9}}});
  const auto in = read_packets(folder / "in.mkv"), out = read_packets(folder / "out.mkv");
  ASSERT_EQ(out.size(), in.size());
  const auto from = static_cast<std::int64_t>(spec.pts[5] * 1000);
  const std::int64_t to = std::min(spec.pts[10], spec.pts[9] + 40) * 1000;
  std::vector<PacketRecord> expected;
  for (PacketRecord p : in[1].packets)
    if (p.pts_us >= from && p.pts_us < to) expected.push_back(p);
  ASSERT_GE(expected.size(), 2u);
  ASSERT_EQ(out[1].packets.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(out[1].packets[i].hash, expected[i].hash);
    EXPECT_NEAR(static_cast<double>(out[1].packets[i].pts_us),
                static_cast<double>(expected[i].pts_us - from), 1000);
  }
}

TEST(Selection, ShortensSubtitlesAtItsLimits) {
  const TemporaryFolder folder;
  const ClipSpec spec = varied();  // lines at 100..250, 300..450 and 500..650 ms
  make_clip(folder / "in.mkv", spec);
  (void)cut(folder / "in.mkv", folder / "out.mkv", {.start_us = 200000, .duration_us = 200000});
  const auto in = read_packets(folder / "in.mkv"), out = read_packets(folder / "out.mkv");
  ASSERT_EQ(out[2].packets.size(), 2u);
  EXPECT_EQ(out[2].packets[0].hash, in[2].packets[0].hash);
  EXPECT_EQ(out[2].packets[1].hash, in[2].packets[1].hash);
  const std::int64_t first_frame = spec.pts[5];  // 214 ms
  ASSERT_EQ(first_frame, 214);
  EXPECT_EQ(out[2].packets[0].pts_us, 0);
  EXPECT_EQ(out[2].packets[1].pts_us, (300 - first_frame) * 1000);
}

TEST(Selection, SelectsFramesByExactTimes) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 50;
  make_clip(folder / "in.mkv", spec);
  const auto frames = [&](std::int64_t start, std::int64_t duration) {
    (void)cut(folder / "in.mkv", folder / "out.mkv", {.start_us = start, .duration_us = duration});
    return decode(folder / "out.mkv").pictures.size();
  };
  const Decoded in = decode(folder / "in.mkv");
  EXPECT_EQ(frames(400000, 400000), 10u);
  EXPECT_EQ(decode(folder / "out.mkv").pictures[0].bytes, in.pictures[10].bytes);
  EXPECT_EQ(frames(400001, 400000), 10u);
  EXPECT_EQ(decode(folder / "out.mkv").pictures[0].bytes, in.pictures[11].bytes);
  EXPECT_EQ(frames(399999, 400002), 11u);
  EXPECT_EQ(frames(1960000, 99000000), 1u);
}

// The clip has frames that are stored out of order, and sound that lags behind: MPEG-4 with
// B-frames in MP4.
TEST(Selection, KeepsFramesStoredOutOfOrder) {
  if (!has_encoder("libx264")) GTEST_SKIP() << "no encoder libx264";
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 50;
  spec.encoder = "libx264";
  spec.encoder_options = {{"bf", "3"}, {"x264-params", "log-level=none"}};
  spec.audio = "aac";
  spec.audio_seconds = 2;
  make_clip(folder / "in.mp4", spec);
  (void)cut(folder / "in.mp4", folder / "out.mkv", {.ranges = {{0, 9}, {30, 34}}});
  const Decoded in = decode(folder / "in.mp4"), out = decode(folder / "out.mkv");
  ASSERT_EQ(out.pictures.size(), 15u);
  for (int i = 0; i < 15; ++i) {
    EXPECT_EQ(out.pictures[i].bytes, in.pictures[i < 10 ? i : i + 20].bytes) << i;
    EXPECT_NEAR(out.pictures[i].time - out.pictures[0].time, 0.04 * i, 2e-3) << i;
  }
  const auto sound = read_packets(folder / "out.mkv")[1].packets;
  // 0.6 s in packets of 1024 samples.
  EXPECT_NEAR(static_cast<double>(sound.size()), 0.6 * 48000 / 1024, 2.1);
  for (std::size_t i = 1; i < sound.size(); ++i) EXPECT_GT(sound[i].pts_us, sound[i - 1].pts_us);
}

// Sound before the first and after the last frame belongs to these frames.
TEST(Selection, CompleteSelectionLosesNothing) {
  const TemporaryFolder folder;
  ClipSpec spec = varied();
  spec.audio_seconds = 2;
  for (std::int64_t& pts : spec.pts) pts += 300;
  make_clip(folder / "in.mkv", spec);
  (void)cut(folder / "in.mkv", folder / "all.mkv", {});
  (void)cut(folder / "in.mkv", folder / "cut.mkv", {.ranges = {{0}}});
  const auto all = read_packets(folder / "all.mkv"), part = read_packets(folder / "cut.mkv");
  ASSERT_EQ(part.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(part[i].packets, all[i].packets) << i;
  (void)cut(folder / "in.mkv", folder / "cut.mkv", {.ranges = {{1, 18}}});
  EXPECT_LT(read_packets(folder / "cut.mkv")[1].packets.size(), all[1].packets.size() / 2);
}

TEST(Selection, KeepsTheNumbersOfASequence) {
  const TemporaryFolder folder;
  ClipSpec spec = png_spec();
  for (const char* name : {"a.11.png", "a.12.png", "a.14.png", "a.15.png"})
    make_clip(folder / name, spec);
  write_file(folder / "a.11.png", {1});  // this file must not even be opened
  (void)cut(folder / "a.%d.png", folder / "b.%d.png", {.ranges = {{1, 1}, {3, 9}}});
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"a.11.png", "a.12.png", "a.14.png",
                                                      "a.15.png", "b.12.png", "b.15.png"}));
  EXPECT_THROW((void)cut(folder / "a.%d.png", "null", {.ranges = {{4, 9}}}), BadData);
}

TEST(Selection, WritesASingleFrameAsPicture) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.format = AV_PIX_FMT_GRAY8;
  make_clip(folder / "in.mkv", spec);
  (void)cut(folder / "in.mkv", folder / "out.png", {.ranges = {{3, 3}}});
  EXPECT_EQ(decode(folder / "out.png").pictures.at(0).bytes,
            decode(folder / "in.mkv").pictures[3].bytes);
  (void)cut(folder / "in.mkv", folder / "n%d.png", {.ranges = {{3, 3}, {8, 8}}});
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"in.mkv", "n3.png", "n8.png", "out.png"}));
}

// Filters that use neighbouring frames get all frames until the caller has enough. The selected
// frames have the same marks and times as in a run without the other frames.
TEST(Selection, DeliversOtherFramesAsContextWithMargins) {
  const TemporaryFolder folder;
  const ClipSpec spec = varied();
  make_clip(folder / "in.mkv", spec);
  const Selection selection{.ranges = {{2, 4}, {7, 7}}};
  const auto plain = open_source(folder / "in.mkv", {.selection = selection});
  const auto source = open_source(folder / "in.mkv", {.selection = selection, .margins = true});
  EXPECT_EQ(source->info().frames_estimate, plain->info().frames_estimate);
  std::vector<int> outside;
  int number = 0;
  for (auto frame = source->read(); frame; frame = source->read(), ++number) {
    if (number == 3) source->end_context_at(3);  // frame 7 follows, so more context is needed
    if (number == 10) source->end_context_at(10);
    if (frame->context_only) {
      outside.push_back(number);
      continue;
    }
    const auto same = plain->read();
    ASSERT_TRUE(same);
    EXPECT_EQ(frame->pts, same->pts);
    EXPECT_EQ(frame->duration, same->duration);
  }
  EXPECT_EQ(outside, (std::vector<int>{0, 1, 5, 6, 8, 9, 10}));
  EXPECT_FALSE(plain->read());
}

TEST(Selection, RejectsEmptySelections) {
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", {});
  EXPECT_THROW((void)cut(folder / "in.mkv", folder / "o.mkv", {.ranges = {{10}}}), BadData);
  EXPECT_THROW((void)cut(folder / "in.mkv", folder / "o.mkv", {.start_us = 400000}), BadData);
}

TEST(Selection, ReportsLostChaptersAndTimecode) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.decorate = [](AVFormatContext& c) {
    av_dict_set(&c.streams[0]->metadata, "timecode", "01:00:00:00", 0);
    c.chapters = static_cast<AVChapter**>(av_calloc(1, sizeof *c.chapters));
    c.chapters[0] = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
    c.nb_chapters = 1;
    c.chapters[0]->time_base = {1, 1000};
    c.chapters[0]->end = 200;
  };
  make_clip(folder / "in.mkv", spec);
  EXPECT_THAT(cut(folder / "in.mkv", folder / "out.mkv", {.ranges = {{2}}}),
              testing::UnorderedElementsAre(HasSubstr("chapters"), HasSubstr("time code")));
  EXPECT_EQ(cut(folder / "in.mkv", folder / "out.mkv", {}).size(), 0u);
}

std::string refusal(const std::string& path, const SourceOptions& options) {
  try {
    const auto source = open_source(path, options);
    while (source->read()) continue;
  } catch (const BadData& e) {
    return e.what();
  }
  return "";
}

TEST(Limits, RejectTooManyPixelsFramesOrStreams) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.audio = "flac";
  make_clip(folder / "in.mkv", spec);
  EXPECT_EQ(refusal(folder / "in.mkv", {.limits = {64 * 48, 10, 2}}), "");
  EXPECT_THAT(refusal(folder / "in.mkv", {.limits = {64 * 48 - 1, 10, 2}}),
              HasSubstr("--max-pixels"));
  EXPECT_THAT(refusal(folder / "in.mkv", {.limits = {64 * 48, 9, 2}}), HasSubstr("--max-frames"));
  EXPECT_THAT(refusal(folder / "in.mkv", {.limits = {64 * 48, 10, 1}}), HasSubstr("--max-streams"));
}

// The header promises more samples than the machine has memory, in every type of file that begins
// with a header.
TEST(Limits, CheckSizesBeforeAllocation) {
  const TemporaryFolder folder;
  const auto text = [&](const std::string& name, const std::string& bytes) {
    write_file(folder / name, {bytes.begin(), bytes.end()});
    EXPECT_NE(refusal(folder / name, {}), "") << name;
  };
  text("a.y4m", "YUV4MPEG2 W30000 H30000 F25:1 C420\nFRAME\n0123456789");
  text("a.pgm", "P5\n30000 30000\n255\n0123456789");
  text("a.pam", "P7\nWIDTH 30000\nHEIGHT 30000\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n0123");
  ClipSpec spec = png_spec();
  for (const char* end : {"png", "tiff", "bmp", "mjpeg"}) {
    spec.encoder = end;
    if (std::string(end) == "mjpeg") {
      spec.format = AV_PIX_FMT_YUVJ420P;
      spec.set_up = [](AVCodecContext& e) { e.color_range = AVCOL_RANGE_JPEG; };
    }
    if (!has_encoder(end)) continue;
    make_clip(folder / end, spec);
    EXPECT_EQ(refusal(folder / end, {.limits = {64 * 48}}), "") << end;
    EXPECT_THAT(refusal(folder / end, {.limits = {64 * 48 - 1}}), HasSubstr("--max-pixels")) << end;
  }
  SourceOptions raw;
  raw.raw = RawVideo{"gray", 30000, 30000};
  EXPECT_THROW((void)open_source(folder / "a.pgm", raw), InvalidArgument);
}

TEST(Limits, RejectProtocolsThatAreNotAllowed) {
  for (const char* name : {"http://127.0.0.1:1/a.mkv", "concat://x", "file:///etc/hostname"})
    EXPECT_THROW((void)open_source(name), NoInput) << name;
  SourceOptions options;
  options.protocols = {"file"};
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", {});
  const auto source = open_source("file://" + (folder / "in.mkv"), options);
  EXPECT_EQ(source->info().container, "matroska,webm");
}

// A playlist is accepted as an input, but the files that it names are not read by other protocols.
TEST(Limits, LetPlaylistsReferToFilesOnly) {
  const TemporaryFolder folder;
  const std::string list =
      "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://127.0.0.1:1/a.ts\n#EXT-X-ENDLIST\n";
  write_file(folder / "a.m3u8", {list.begin(), list.end()});
  EXPECT_THROW((void)open_source(folder / "a.m3u8"), BadData);
}

}  // namespace
}  // namespace lull::io::test
