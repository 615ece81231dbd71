// Tests the streams that accompany the video: attachments, text subtitles that another container
// requires in another form, and streams that are dropped on request.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "io/probe.h"
#include "io/support/clip.h"
#include "io/support/side_data.h"

namespace lull::io::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Attached {
  std::string name, kind, bytes;
  bool operator==(const Attached&) const = default;
};

void attach(AVFormatContext& context, AVCodecID codec, const Attached& file) {
  AVStream* stream = avformat_new_stream(&context, nullptr);
  stream->codecpar->codec_type = AVMEDIA_TYPE_ATTACHMENT;
  stream->codecpar->codec_id = codec;
  stream->codecpar->extradata =
      static_cast<std::uint8_t*>(av_mallocz(file.bytes.size() + AV_INPUT_BUFFER_PADDING_SIZE));
  stream->codecpar->extradata_size = static_cast<int>(file.bytes.size());
  std::memcpy(stream->codecpar->extradata, file.bytes.data(), file.bytes.size());
  av_dict_set(&stream->metadata, "filename", file.name.c_str(), 0);
  av_dict_set(&stream->metadata, "mimetype", file.kind.c_str(), 0);
}

using Input = std::unique_ptr<AVFormatContext, Releaser<avformat_close_input>>;
Input open_input(const std::string& path) {
  AVFormatContext* context = nullptr;
  if (avformat_open_input(&context, path.c_str(), nullptr, nullptr) < 0)
    throw std::runtime_error("cannot open " + path);
  Input input(context);
  avformat_find_stream_info(context, nullptr);
  return input;
}

std::vector<Attached> attachments_of(const std::string& path) {
  const Input input = open_input(path);
  std::vector<Attached> files;
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    const AVStream& s = *input->streams[i];
    if (s.codecpar->codec_type != AVMEDIA_TYPE_ATTACHMENT) continue;
    const auto tag = [&](const char* key) {
      const AVDictionaryEntry* entry = av_dict_get(s.metadata, key, nullptr, 0);
      return std::string(entry ? entry->value : "");
    };
    files.push_back({tag("filename"), tag("mimetype"),
                     std::string(reinterpret_cast<const char*>(s.codecpar->extradata),
                                 static_cast<std::size_t>(s.codecpar->extradata_size))});
  }
  return files;
}

const std::vector<Attached>& files() {
  static const std::vector<Attached> all = {{"serif.ttf", "application/x-truetype-font", "glyphs"},
                                            {"notes.txt", "text/plain", "some words"},
                                            {"tool.bin", "application/x-unheard-of", "01"}};
  return all;
}

ClipSpec with_attachments() {
  ClipSpec spec;
  spec.decorate = [](AVFormatContext& context) {
    attach(context, AV_CODEC_ID_TTF, files()[0]);
    attach(context, AV_CODEC_ID_TEXT, files()[1]);
    attach(context, AV_CODEC_ID_NONE, files()[2]);
  };
  return spec;
}

TEST(Attachments, AreKeptInMatroska) {
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", with_attachments());
  ASSERT_EQ(attachments_of(folder / "in.mkv"), files());
  EXPECT_THAT(convert(folder / "in.mkv", folder / "out.mkv", {}), IsEmpty());
  EXPECT_EQ(attachments_of(folder / "out.mkv"), files());
}

TEST(Attachments, AreRejectedInOtherContainersUnlessDropped) {
  const TemporaryFolder folder;
  make_clip(folder / "in.mkv", with_attachments());
  for (const std::string name : {"out.mp4", "out.nut"}) {
    try {
      convert(folder / "in.mkv", folder / name, {});
      FAIL() << name << " holds attachments";
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr("stream 1 (attachment, ttf)"));
      EXPECT_THAT(error.what(), HasSubstr("--drop 1"));
    }
    SinkOptions options;
    options.drops.attachments = true;
    EXPECT_THAT(convert(folder / "in.mkv", folder / name, options),
                Not(Contains(HasSubstr("attach"))));
    EXPECT_EQ(read_packets(folder / name).size(), 1u);
  }
}

/// Returns the bytes of a cover picture in JPEG format.
std::string jpeg_bytes(const TemporaryFolder& folder) {
  ClipSpec spec{.frames = 1, .format = AV_PIX_FMT_YUVJ420P, .encoder = "mjpeg"};
  spec.muxer = "image2pipe";
  make_clip(folder / "cover.jpg", spec);
  const std::vector<std::uint8_t> bytes = read_file(folder / "cover.jpg");
  return {bytes.begin(), bytes.end()};
}

int count_covers(const std::string& path) {
  const std::vector<StreamRecord> streams = read_packets(path);
  return static_cast<int>(std::ranges::count_if(streams, [](const StreamRecord& stream) {
    return (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
  }));
}

// FFmpeg's muxers for MOV, and for MP4 with custom tags, omit cover pictures without a message.
TEST(Covers, AreKeptOrReportedAsLost) {
  const TemporaryFolder folder;
  const Attached cover{"cover.jpg", "image/jpeg", jpeg_bytes(folder)};
  for (const bool custom_tag : {false, true}) {
    SCOPED_TRACE(custom_tag);
    ClipSpec spec;
    spec.decorate = [&](AVFormatContext& context) {
      attach(context, AV_CODEC_ID_MJPEG, cover);
      if (custom_tag) av_dict_set(&context.metadata, "camera", "B", 0);
    };
    const std::string input = folder / (custom_tag ? "tagged.mkv" : "in.mkv");
    make_clip(input, spec);
    ASSERT_EQ(count_covers(input), 1);
    for (const std::string name : {"out.mkv", "out.mp4", "out.mov"}) {
      SCOPED_TRACE(name);
      const bool kept = name == "out.mkv" || (name == "out.mp4" && !custom_tag);
      const std::vector<std::string> losses = convert(input, folder / name, {.overwrite = true});
      EXPECT_EQ(count_covers(folder / name), kept ? 1 : 0);
      if (kept)
        EXPECT_THAT(losses, IsEmpty());
      else
        EXPECT_THAT(losses, ElementsAre(HasSubstr("stream 1 (video, mjpeg)")));
    }
  }
}

struct Line {
  std::int64_t from_ms, to_ms;
  std::string text;
  bool operator==(const Line&) const = default;
};

void PrintTo(const Line& line, std::ostream* out) {
  *out << line.from_ms << "-" << line.to_ms << " " << line.text;
}

/// Returns the subtitle lines that FFmpeg's decoder reads, without ASS's fields before the text.
std::vector<Line> lines_of(const std::string& path, AVCodecID expected) {
  const Input input = open_input(path);
  const int index = av_find_best_stream(input.get(), AVMEDIA_TYPE_SUBTITLE, -1, -1, nullptr, 0);
  if (index < 0) return {};
  const AVStream& stream = *input->streams[index];
  EXPECT_EQ(stream.codecpar->codec_id, expected);
  const CodecPtr decoder(avcodec_alloc_context3(avcodec_find_decoder(stream.codecpar->codec_id)));
  avcodec_parameters_to_context(decoder.get(), stream.codecpar);
  decoder->pkt_timebase = stream.time_base;
  EXPECT_GE(avcodec_open2(decoder.get(), nullptr, nullptr), 0);
  std::vector<Line> lines;
  for (PacketPtr p = make_packet(); av_read_frame(input.get(), p.get()) >= 0;
       av_packet_unref(p.get())) {
    if (p->stream_index != index) continue;
    AVSubtitle subtitle{};
    int found = 0;
    EXPECT_GE(avcodec_decode_subtitle2(decoder.get(), &subtitle, &found, p.get()), 0);
    for (unsigned i = 0; found && i < subtitle.num_rects; ++i) {
      std::string text = subtitle.rects[i]->ass;
      for (int comma = 0; comma < 8; ++comma) text.erase(0, text.find(',') + 1);
      const auto ms = [&](std::int64_t t) { return av_rescale_q(t, stream.time_base, {1, 1000}); };
      if (!text.empty()) lines.push_back({ms(p->pts), ms(p->pts + p->duration), text});
    }
    avsubtitle_free(&subtitle);
  }
  return lines;
}

const std::vector<Line> expected_lines = {
    {100, 250, "line 0"}, {300, 450, "line 1"}, {500, 650, "line 2"}};

class TextSubtitles : public testing::Test {
 protected:
  // Converts through containers that each require another form.
  void expect_lines(const std::string& from, const std::string& to, AVCodecID codec) {
    SCOPED_TRACE(from + " to " + to);
    const auto source = open_source(folder / from);
    const auto sink = open_sink(folder / to, *source, {.vcodec = encoder_for(to)});
    while (auto frame = source->read()) sink->write(*std::move(frame));
    sink->finish();
    EXPECT_THAT(sink->losses(), Not(Contains(HasSubstr("stream 1"))));
    notes = sink->notes();
    EXPECT_EQ(lines_of(folder / to, codec), expected_lines);
    const auto language = read_packets(folder / to)[1].metadata;
    EXPECT_THAT(language, Contains(std::pair<std::string, std::string>("language", "jpn")));
  }
  static std::string encoder_for(const std::string& name) {
    return name.ends_with("webm") ? "libvpx-vp9" : "mpeg4";
  }
  TemporaryFolder folder;
  std::vector<std::string> notes;
};

TEST_F(TextSubtitles, ConvertToTheFormOfTheContainer) {
  ClipSpec spec;
  spec.frames = 20;
  spec.subtitles = "subrip";
  spec.decorate = [](AVFormatContext& c) {
    av_dict_set(&c.streams[1]->metadata, "language", "jpn", 0);
  };
  make_clip(folder / "in.mkv", spec);
  ASSERT_EQ(lines_of(folder / "in.mkv", AV_CODEC_ID_SUBRIP), expected_lines);
  expect_lines("in.mkv", "same.mkv", AV_CODEC_ID_SUBRIP);
  EXPECT_THAT(notes, IsEmpty());
  expect_lines("in.mkv", "a.mp4", AV_CODEC_ID_MOV_TEXT);
  EXPECT_THAT(notes, ElementsAre("stream 1 (subtitle, subrip) becomes mov_text"));
  expect_lines("in.mkv", "a.mov", AV_CODEC_ID_MOV_TEXT);
  expect_lines("a.mp4", "b.mkv", AV_CODEC_ID_SUBRIP);
  EXPECT_THAT(notes, ElementsAre("stream 1 (subtitle, mov_text) becomes subrip"));
  expect_lines("a.mp4", "b.mp4", AV_CODEC_ID_MOV_TEXT);
  EXPECT_THAT(notes, IsEmpty());
  if (!has_encoder("libvpx-vp9")) GTEST_SKIP() << "this FFmpeg has no libvpx-vp9";
  expect_lines("a.mp4", "c.webm", AV_CODEC_ID_WEBVTT);
  expect_lines("in.mkv", "d.webm", AV_CODEC_ID_WEBVTT);
  expect_lines("d.webm", "e.mp4", AV_CODEC_ID_MOV_TEXT);
  expect_lines("d.webm", "e.mkv", AV_CODEC_ID_WEBVTT);
}

TEST_F(TextSubtitles, AreCutAndConvertedForASelection) {
  ClipSpec spec;
  spec.frames = 20;
  spec.subtitles = "subrip";
  make_clip(folder / "in.mkv", spec);
  SourceOptions part;
  part.selection.ranges = {{8, 14}};  // 320 to 600 ms
  const auto source = open_source(folder / "in.mkv", part);
  const auto sink = open_sink(folder / "out.mp4", *source, {.vcodec = "mpeg4"});
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  EXPECT_EQ(lines_of(folder / "out.mp4", AV_CODEC_ID_MOV_TEXT),
            (std::vector<Line>{{0, 130, "line 1"}, {180, 280, "line 2"}}));
}

TEST_F(TextSubtitles, AreEqualInSegments) {
  ClipSpec spec;
  spec.frames = 20;
  spec.subtitles = "subrip";
  make_clip(folder / "in.mkv", spec);
  convert(folder / "in.mkv", folder / "out.mp4",
          {.vcodec = "mpeg4", .segments = SegmentOptions{.frames = 6}});
  EXPECT_EQ(lines_of(folder / "out.mp4", AV_CODEC_ID_MOV_TEXT), expected_lines);
}

// ASS has features that timed text cannot represent.
TEST_F(TextSubtitles, AssStylesAreLostWithAWarning) {
  ClipSpec spec;
  spec.frames = 20;
  spec.subtitles = "ass";
  make_clip(folder / "in.mkv", spec);
  EXPECT_THAT(convert(folder / "in.mkv", folder / "out.mp4", {.vcodec = "mpeg4"}),
              Contains(HasSubstr("the positions and styles of stream 1")));
  EXPECT_THAT(convert(folder / "in.mkv", folder / "out.mkv", {.vcodec = "mpeg4"}), IsEmpty());
}

// mkvmerge writes statistics of the stream as tags with a language.
TEST(Tags, OfTheOldEncodingAreNotCopied) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.audio = "flac";
  spec.decorate = [](AVFormatContext& context) {
    av_dict_set(&context.metadata, "MAJOR_BRAND", "isom", 0);
    for (unsigned i = 0; i < context.nb_streams; ++i)
      for (const char* key :
           {"BPS", "BPS-eng", "NUMBER_OF_FRAMES-eng", "_STATISTICS_TAGS-eng", "CAMERA-eng"})
        av_dict_set(&context.streams[i]->metadata, key, "7", 0);
  };
  make_clip(folder / "in.mkv", spec);
  convert(folder / "in.mkv", folder / "out.mkv", {});
  const Input out = open_input(folder / "out.mkv");
  const auto has = [](const AVDictionary* tags, const char* key) {
    return av_dict_get(tags, key, nullptr, 0) != nullptr;
  };
  EXPECT_FALSE(has(out->metadata, "MAJOR_BRAND"));
  for (const char* key : {"BPS", "BPS-eng", "NUMBER_OF_FRAMES-eng", "_STATISTICS_TAGS-eng"}) {
    EXPECT_FALSE(has(out->streams[0]->metadata, key)) << key;
    EXPECT_TRUE(has(out->streams[1]->metadata, key)) << key;  // copied packets are unchanged
  }
  EXPECT_TRUE(has(out->streams[0]->metadata, "CAMERA-eng"));
}

class Drop : public testing::Test {
 protected:
  Drop() {
    ClipSpec spec = with_attachments();
    spec.audio = "flac";
    spec.subtitles = "subrip";
    const auto attachments = spec.decorate;
    spec.decorate = [attachments](AVFormatContext& c) {
      attachments(c);
      add_chapter(c);
      av_dict_set(&c.metadata, "title", "Alpha", 0);
    };
    make_clip(in, spec);  // 0 video, 1 audio, 2 subtitles, 3 to 5 attachments
  }
  /// Returns the names of the streams that accompany the video in the output. `notes` receives the
  /// notes of the sink.
  std::vector<std::string> kept(const Drops& drops, const std::string& name = "out.mkv") {
    const auto source = open_source(in);
    const auto sink =
        open_sink(folder / name, *source, {.vcodec = "mpeg4", .overwrite = true, .drops = drops});
    notes = sink->notes();
    losses = sink->losses();
    while (auto frame = source->read()) sink->write(*std::move(frame));
    sink->finish();
    const Input out = open_input(folder / name);
    std::vector<std::string> list;
    for (unsigned i = 1; i < out->nb_streams; ++i)
      list.emplace_back(av_get_media_type_string(out->streams[i]->codecpar->codec_type));
    if (out->nb_chapters > 0) list.emplace_back("chapters");
    if (av_dict_get(out->metadata, "title", nullptr, 0)) list.emplace_back("title");
    return list;
  }
  std::string refusal(const Drops& drops) {
    try {
      kept(drops);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder;
  const std::string in = folder / "in.mkv";
  std::vector<std::string> notes, losses;
};

TEST_F(Drop, RemovesOnlyTheNamedStreams) {
  EXPECT_THAT(kept({}), ElementsAre("audio", "subtitle", "attachment", "attachment", "attachment",
                                    "chapters", "title"));
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_THAT(kept({.audio = true}), ElementsAre("subtitle", "attachment", "attachment",
                                                 "attachment", "chapters", "title"));
  EXPECT_THAT(notes, ElementsAre("dropped by --drop: stream 1 (audio, flac)"));
  EXPECT_THAT(losses, IsEmpty());
  EXPECT_THAT(kept({.subtitles = true, .chapters = true, .streams = {4}}),
              ElementsAre("audio", "attachment", "attachment", "title"));
  EXPECT_THAT(notes, ElementsAre("dropped by --drop: stream 2 (subtitle, subrip), stream 4 "
                                 "(attachment, none), 1 chapter"));
  EXPECT_THAT(kept({.attachments = true, .tags = true}),
              ElementsAre("audio", "subtitle", "chapters"));
}

TEST_F(Drop, AllowsContainersThatWouldRejectTheInput) {
  EXPECT_THROW(kept({}, "out.ts"), InvalidArgument);
  EXPECT_THAT(
      kept({.audio = true, .attachments = true, .chapters = true, .tags = true, .streams = {2}},
           "out.ts"),
      IsEmpty());
  EXPECT_THAT(losses, Not(Contains(HasSubstr("chapter"))));
  EXPECT_THAT(losses, Not(Contains(HasSubstr("tags"))));
}

TEST_F(Drop, RejectsMissingStreams) {
  EXPECT_THAT(refusal({.streams = {0}}), HasSubstr("--drop 0"));
  EXPECT_THAT(refusal({.streams = {6}}), HasSubstr("streams 0 to 5"));
  // The user may use one option for many files, so the option may name kinds of streams that some
  // files lack.
  EXPECT_EQ(refusal({.data = true, .video = true}), "");
}

TEST_F(Drop, AppearsInTheProbeReport) {
  const InputReport report =
      probe(in, {}, "out.mp4", {.vcodec = "mpeg4", .drops = {.attachments = true}});
  std::vector<std::string> fates;
  for (const StreamReport& stream : report.streams) fates.push_back(stream.fate);
  EXPECT_THAT(fates,
              ElementsAre("denoised", "copied", "converted", "dropped", "dropped", "dropped"));
  EXPECT_THAT(report.lost, Not(Contains(HasSubstr("attachment"))));
}

TEST_F(Drop, MustBeRepeatedWhenAJobIsResumed) {
  const auto job = [&](const Drops& drops, bool resume) {
    const auto source = open_source(in);
    const auto sink = open_sink(folder / "out.mkv", *source,
                                {.vcodec = "mpeg4",
                                 .drops = drops,
                                 .segments = SegmentOptions{.frames = 3, .resume = resume}});
    for (int i = 0; i < 4; ++i) sink->write(*source->read());
  };
  job({.audio = true}, false);
  EXPECT_THROW(job({}, true), InvalidArgument);
  EXPECT_NO_THROW(job({.audio = true}, true));
}

// Muxers of FFmpeg reject a stream of unknown format. The request is not at fault.
TEST(DamagedStreams, AreBadDataAndCanBeDropped) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "mpeg2video";
  spec.audio = "aac";
  make_clip(folder / "in.ts", spec);
  std::vector<std::uint8_t> bytes = read_file(folder / "in.ts");
  constexpr std::size_t packet = 188, audio_id = 0x101;
  for (std::size_t at = 0; at + packet <= bytes.size(); at += packet)
    if (((bytes[at + 1] & 0x1fU) << 8 | bytes[at + 2]) == audio_id)
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at + 30), packet - 30,
                  std::uint8_t{0x55});
  write_file(folder / "in.ts", bytes);
  const auto source = open_source(folder / "in.ts", {.tolerate_damage = true});
  for (const char* name : {"out.mkv", "out.mp4", "out.ts"}) {
    try {
      (void)open_sink(folder / name, *source, {});
      ADD_FAILURE() << name << " was opened";
    } catch (const BadData& error) {
      EXPECT_THAT(error.what(), HasSubstr("stream 1 of"));
      EXPECT_THAT(error.what(), HasSubstr("--drop 1"));
    }
  }
  SinkOptions without;
  without.drops.streams = {1};
  EXPECT_NE(open_sink(folder / "out.mkv", *source, without), nullptr);
}

}  // namespace
}  // namespace lull::io::test
