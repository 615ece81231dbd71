// Tests the data that accompany the samples: timestamps, other streams, metadata, colour.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <thread>

#include "io/demux/input_container.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

std::vector<double> times_of(const std::string& path) {
  std::vector<double> times;
  for (const Picture& p : decode(path).pictures) times.push_back(p.time);
  return times;
}

const StreamRecord* find_stream(const std::vector<StreamRecord>& streams, AVMediaType type) {
  const auto found = std::ranges::find(streams, type, &StreamRecord::type);
  return found == streams.end() ? nullptr : &*found;
}

std::string value_of(const StreamRecord& stream, const std::string& key) {
  for (const auto& [k, v] : stream.metadata)
    if (k == key) return v;
  return {};
}

std::vector<std::int64_t> varying_times(int frames) {
  std::mt19937 random(11);
  std::vector<std::int64_t> pts{0};
  while (static_cast<int>(pts.size()) < frames) pts.push_back(pts.back() + 1 + random() % 90);
  return pts;
}

TEST(Timestamps, VariableRatesAreKeptExactly) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 40;
  spec.time_base = {1, 1000};
  spec.pts = varying_times(spec.frames);
  make_clip(folder / "in.mkv", spec);
  for (const char* name : {"out.mkv", "out.mp4", "out.mov", "out.nut"}) {
    SCOPED_TRACE(name);
    ASSERT_EQ(transcode(folder / "in.mkv", folder / name), 40);
    const auto in = times_of(folder / "in.mkv"), out = times_of(folder / name);
    ASSERT_EQ(in.size(), out.size());
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(in[i], out[i], 1e-9) << i;
  }
}

TEST(Timestamps, OddRatesAndLateStartsSurviveMp4) {
  const TemporaryFolder folder;
  for (const std::int64_t start : {0, 1, 37}) {
    SCOPED_TRACE(start);
    ClipSpec spec;
    spec.encoder = "libx264";  // with B-frames
    spec.frames = 30;
    spec.time_base = {1001, 30000};
    spec.frame_rate = {30000, 1001};
    for (int i = 0; i < spec.frames; ++i) spec.pts.push_back(start + i);
    make_clip(folder / "in.mp4", spec);
    for (const char* name : {"out.mp4", "out.mov"}) {
      transcode(folder / "in.mp4", folder / name, {.overwrite = true, .keep_times = true});
      const auto in = times_of(folder / "in.mp4"), out = times_of(folder / name);
      ASSERT_EQ(in.size(), 30u);
      ASSERT_EQ(in.size(), out.size());
      for (std::size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(in[i], out[i], 1e-9) << name << i;
      // The duration of the last frame counts, too.
      EXPECT_EQ(open_source(folder / "in.mp4")->info().duration_s,
                open_source(folder / name)->info().duration_s);
    }
  }
}

TEST(Timestamps, ContainersWithoutTimestampsRejectVariableRates) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 10;
  spec.time_base = {1, 1000};
  spec.pts = varying_times(spec.frames);
  make_clip(folder / "in.mkv", spec);
  EXPECT_THROW(transcode(folder / "in.mkv", folder / "out.y4m"), InvalidArgument);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"in.mkv"});
}

TEST(Timestamps, AviKeepsOrderAndCount) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 20;
  make_clip(folder / "in.mkv", spec);
  transcode(folder / "in.mkv", folder / "out.avi");
  const auto in = times_of(folder / "in.mkv"), out = times_of(folder / "out.avi");
  ASSERT_EQ(in.size(), out.size());
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(in[i], out[i], 1e-9) << i;
}

struct Copied {
  const char *in, *out, *audio, *subtitles;
};
class CopiedStreamsIn : public testing::TestWithParam<Copied> {};

TEST_P(CopiedStreamsIn, AreEqualPacketForPacket) {
  const Copied& c = GetParam();
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "libx264";
  spec.frames = 25;
  spec.audio = c.audio;
  spec.audio_seconds = 2;  // packets after the last one of the video
  spec.subtitles = c.subtitles;
  make_clip(folder / c.in, spec);
  transcode(folder / c.in, folder / c.out);
  const auto in = read_packets(folder / c.in), out = read_packets(folder / c.out);
  ASSERT_EQ(in.size(), out.size());
  for (const AVMediaType type : {AVMEDIA_TYPE_AUDIO, AVMEDIA_TYPE_SUBTITLE}) {
    const StreamRecord *a = find_stream(in, type), *b = find_stream(out, type);
    ASSERT_EQ(a == nullptr, b == nullptr);
    if (!a) continue;
    ASSERT_FALSE(a->packets.empty());
    EXPECT_EQ(a->codec, b->codec);
    ASSERT_EQ(a->packets.size(), b->packets.size());
    for (std::size_t i = 0; i < a->packets.size(); ++i) {
      ASSERT_EQ(a->packets[i].hash, b->packets[i].hash) << i;
      // Matroska has timestamps in ms.
      ASSERT_NEAR(a->packets[i].pts_us, b->packets[i].pts_us, 1000) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Containers, CopiedStreamsIn,
                         testing::Values(Copied{"a.mp4", "b.mp4", "aac", ""},
                                         Copied{"a.mp4", "b.mkv", "aac", ""},
                                         Copied{"a.mp4", "b.mov", "aac", "mov_text"},
                                         Copied{"a.mkv", "b.mkv", "flac", "subrip"},
                                         Copied{"a.mkv", "b.mkv", "pcm_s16le", "ass"},
                                         Copied{"a.mkv", "b.avi", "pcm_s16le", ""},
                                         Copied{"a.mkv", "b.mp4", "flac", ""}),
                         [](const auto& info) {
                           std::string name = std::string(info.param.in) + "_" + info.param.out +
                                              "_" + info.param.audio + "_" + info.param.subtitles;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(CopiedStreams, AreKeptAcrossReaderAndWriterThreads) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.audio = "flac";
  spec.audio_seconds = 3;
  spec.frames = 50;
  make_clip(folder / "in.mkv", spec);
  const auto source = open_source(folder / "in.mkv");
  const auto sink = open_sink(folder / "out.mkv", *source, {.lossless = true});
  std::mutex mutex;
  std::vector<Frame> frames;
  bool ended = false;
  std::thread reader([&] {
    while (auto frame = source->read()) {
      const std::lock_guard lock(mutex);
      frames.push_back(*std::move(frame));
    }
    const std::lock_guard lock(mutex);
    ended = true;
  });
  for (bool done = false; !done;) {
    std::vector<Frame> some;
    {
      const std::lock_guard lock(mutex);
      some.swap(frames);
      done = ended && some.empty();
    }
    for (Frame& frame : some) sink->write(std::move(frame));
  }
  reader.join();
  sink->finish();
  const auto in = read_packets(folder / "in.mkv"), out = read_packets(folder / "out.mkv");
  EXPECT_EQ(find_stream(in, AVMEDIA_TYPE_AUDIO)->packets,
            find_stream(out, AVMEDIA_TYPE_AUDIO)->packets);
}

TEST(CopiedStreams, AreNamedIfTheContainerCannotHoldThem) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.subtitles = "subrip";
  make_clip(folder / "in.mkv", spec);
  try {
    transcode(folder / "in.mkv", folder / "out.avi");
    FAIL() << "subrip went into AVI";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("subrip"));
    EXPECT_THAT(error.what(), testing::HasSubstr(".mkv"));
  }
  EXPECT_EQ(folder.files(), std::vector<std::string>{"in.mkv"});
}

TEST(Description, MetadataChaptersAndDispositionsAreKept) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.audio = "flac";
  spec.decorate = [](AVFormatContext& context) {
    av_dict_set(&context.metadata, "title", "A title", 0);
    av_dict_set(&context.streams[0]->metadata, "language", "deu", 0);
    av_dict_set(&context.streams[1]->metadata, "language", "fra", 0);
    av_dict_set(&context.streams[1]->metadata, "title", "Commentary", 0);
    context.streams[1]->disposition = AV_DISPOSITION_COMMENT;
    context.chapters = static_cast<AVChapter**>(av_calloc(1, sizeof(AVChapter*)));
    auto* chapter = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
    chapter->id = 1;
    chapter->time_base = {1, 1000};
    chapter->start = 100;
    chapter->end = 300;
    av_dict_set(&chapter->metadata, "title", "Middle", 0);
    context.chapters[0] = chapter;
    context.nb_chapters = 1;
  };
  make_clip(folder / "in.mkv", spec);
  transcode(folder / "in.mkv", folder / "out.mkv");
  const auto in = read_packets(folder / "in.mkv"), out = read_packets(folder / "out.mkv");
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(value_of(in[i], "language"), value_of(out[i], "language"));
    EXPECT_EQ(value_of(in[i], "title"), value_of(out[i], "title"));
    EXPECT_EQ(in[i].disposition, out[i].disposition);
  }
  AVFormatContext* context = nullptr;
  ASSERT_GE(avformat_open_input(&context, (folder / "out.mkv").c_str(), nullptr, nullptr), 0);
  const std::unique_ptr<AVFormatContext, Releaser<avformat_close_input>> owner(context);
  EXPECT_STREQ(av_dict_get(context->metadata, "title", nullptr, 0)->value, "A title");
  ASSERT_EQ(context->nb_chapters, 1u);
  EXPECT_EQ(av_rescale_q(context->chapters[0]->start, context->chapters[0]->time_base, {1, 1000}),
            100);
  EXPECT_STREQ(av_dict_get(context->chapters[0]->metadata, "title", nullptr, 0)->value, "Middle");
}

TEST(Description, ColourTagsAspectAndRangeAreKept) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "libx264";
  spec.set_up = [](AVCodecContext& e) {
    e.color_primaries = AVCOL_PRI_BT2020;
    e.color_trc = AVCOL_TRC_SMPTE2084;
    e.colorspace = AVCOL_SPC_BT2020_NCL;
    e.color_range = AVCOL_RANGE_JPEG;
    e.chroma_sample_location = AVCHROMA_LOC_TOPLEFT;
    e.sample_aspect_ratio = {4, 3};
  };
  for (const std::string name : {"mkv", "mp4"}) {
    SCOPED_TRACE(name);
    make_clip(folder / ("in." + name), spec);
    transcode(folder / ("in." + name), folder / ("out." + name));
    const Decoded out = decode(folder / ("out." + name));
    ASSERT_TRUE(out.first);
    EXPECT_EQ(out.first->color_primaries, AVCOL_PRI_BT2020);
    EXPECT_EQ(out.first->color_trc, AVCOL_TRC_SMPTE2084);
    EXPECT_EQ(out.first->colorspace, AVCOL_SPC_BT2020_NCL);
    EXPECT_EQ(out.first->color_range, AVCOL_RANGE_JPEG);
    EXPECT_EQ(out.first->chroma_location, AVCHROMA_LOC_TOPLEFT);
    EXPECT_EQ(av_cmp_q(out.first->sample_aspect_ratio, {4, 3}), 0);
  }
}

// FFmpeg 7 returns the tiles and the thumbnail of a HEIF picture as streams, and no stream for the
// complete picture.
TEST(TiledPictures, AreRecognised) {
  const std::unique_ptr<AVFormatContext, decltype(&avformat_free_context)> context(
      avformat_alloc_context(), avformat_free_context);
  for (const int disposition : {AV_DISPOSITION_DEPENDENT, AV_DISPOSITION_DEPENDENT, 0}) {
    AVStream* stream = avformat_new_stream(context.get(), nullptr);
    stream->codecpar->codec_type = AVMEDIA_TYPE_VIDEO;
    stream->disposition = disposition;
  }
  EXPECT_EQ(video_streams(*context), std::vector<int>{2});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(is_part_of_tiled_picture(*context, i)) << i;
  // The main picture has no tiles, but another picture of the file has.
  context->streams[2]->disposition = AV_DISPOSITION_DEFAULT;
  EXPECT_FALSE(is_part_of_tiled_picture(*context, 2));
  for (unsigned i = 0; i < 3; ++i) context->streams[i]->disposition = 0;
  EXPECT_FALSE(is_part_of_tiled_picture(*context, 0));
}

TEST(Description, InfoDescribesTheFile) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "libx264";
  spec.frames = 50;
  make_clip(folder / "in.mp4", spec);
  const auto source = open_source(folder / "in.mp4");
  EXPECT_EQ(source->info().codec, "h264");
  EXPECT_EQ(source->info().pixel_format, "yuv420p");
  EXPECT_EQ(source->info().frames_estimate, 50);
  EXPECT_NEAR(source->info().duration_s, 2.0, 1e-6);
  EXPECT_EQ(source->info().frame_rate, (Rational{25, 1}));
  EXPECT_FALSE(source->info().still);
  EXPECT_EQ(source->format().width, 64);
  EXPECT_EQ(source->format().height, 48);
}

}  // namespace
}  // namespace lull::io::test
