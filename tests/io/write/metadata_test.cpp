// Tests the metadata that accompany the pictures of a video, in every type of output: each property
// is kept, or reported as lost. Each cell of the table in docs/reference/formats.md is a conversion
// whose result is read by ffprobe.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

extern "C" {
#include <libavutil/display.h>
}

#include <fstream>
#include <functional>

#include "io/support/clip.h"
#include "io/support/ffprobe.h"
#include "io/support/side_data.h"

namespace lull::io::test {
namespace {

constexpr const char* table_file = LULL_SOURCE_FOLDER "/docs/reference/formats.md";

struct Column {
  std::string extension, encoder, title;
};
const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"mkv", "libx264", "mkv"},    {"mp4", "libx264", "mp4"},
      {"mov", "libx264", "mov"},    {"webm", "libvpx-vp9", "webm"},
      {"ts", "libx264", "ts"},      {"nut", "libx264", "nut"},
      {"avi", "libx264", "avi"},    {"mkv", "libx265", "mkv, x265"},
      {"mkv", "ffv1", "mkv, FFV1"}, {"mp4", "libvpx-vp9", "mp4, VP9"},
      {"nut", "ffv1", "nut, FFV1"}};
  return all;
}

struct Row {
  std::string title;
  std::string extension;  // file extension of the input
  std::function<void(ClipSpec&)> make;
  std::function<bool(const Report& in, const Report& out)> kept;
  std::string name;  // name of the loss in a warning
  // Adds data to the frames that the input's container cannot store.
  std::function<void(AVFrame&)> add_to_frames;
  // Returns true if the output contains the data in another form.
  std::function<bool(const Report& out)> converted{};
};

Row stream_row(std::string title, std::string name, std::function<void(AVFormatContext&)> decorate,
               std::function<bool(const Report&, const Report&)> kept) {
  return {
      std::move(title), "mkv",           [decorate](ClipSpec& spec) { spec.decorate = decorate; },
      std::move(kept),  std::move(name), nullptr};
}

Row colour_row(std::string title, std::string name, std::function<void(AVCodecContext&)> set_up,
               std::function<bool(const Report&, const Report&)> kept) {
  return {std::move(title), "mkv",           [set_up](ClipSpec& spec) { spec.set_up = set_up; },
          std::move(kept),  std::move(name), nullptr};
}

std::function<bool(const Report&, const Report&)> has(const std::string& key,
                                                      const std::string& value) {
  return [=](const Report&, const Report& out) { return out.says(key, value); };
}

void rotate(AVFormatContext& context) {
  std::array<std::int32_t, 9> matrix;
  av_display_rotation_set(matrix.data(), 90);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(matrix.data());
  add_stream_data(*context.streams[0], AV_PKT_DATA_DISPLAYMATRIX, {bytes, sizeof matrix});
}

bool has_hdr_plus(const Report&, const Report& out) {
  const bool read =
      out.says("maxscl", "17830/100000") && out.says("average_maxrgb", "2036/100000") &&
      out.says("knee_point_y", "128/4095") && out.says("bezier_curve_anchors", "700/1023") &&
      out.says("targeted_system_display_maximum_luminance", "400/1");
  // FFmpeg 5.1 does not decode this message from H.264; it only reports that such a message exists.
  return read || out.traces("itu_t_t35_country_code", 0xB5);
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> r;
    r.push_back(stream_row("chapters", "chapter", add_chapter, has("tags.title", "Overture")));
    r.push_back(stream_row(
        "title of the file", "tags of the file",
        [](AVFormatContext& c) { av_dict_set(&c.metadata, "title", "Alpha", 0); },
        has("format.tags.title", "Alpha")));
    r.push_back(stream_row(
        "any other tag of the file", "tags of the file",
        [](AVFormatContext& c) { av_dict_set(&c.metadata, "scanner", "K7", 0); },
        has("format.tags.scanner", "K7")));
    r.push_back(stream_row(
        "title of a stream", "title of stream 0",
        [](AVFormatContext& c) { av_dict_set(&c.streams[0]->metadata, "title", "Beta", 0); },
        has("0.tags.title", "Beta")));
    r.push_back(stream_row(
        "language of the video", "language of stream 0",
        [](AVFormatContext& c) { av_dict_set(&c.streams[0]->metadata, "language", "jpn", 0); },
        has("0.tags.language", "jpn")));
    r.push_back(stream_row(
        "disposition: forced, comment, ...", "disposition",
        [](AVFormatContext& c) { c.streams[0]->disposition = AV_DISPOSITION_COMMENT; },
        has("disposition.comment", "1")));
    r.push_back(stream_row(
        "time code", "time code",
        [](AVFormatContext& c) {
          av_dict_set(&c.streams[0]->metadata, "timecode", "01:02:03:04", 0);
        },
        has("timecode", "01:02:03:04")));
    r.push_back({"rotation", "mp4", [](ClipSpec& spec) { spec.decorate = rotate; },
                 [](const Report& in, const Report& out) {
                   return in.mentions("rotation") && in.value("rotation") == out.value("rotation");
                 },
                 "rotation", nullptr});
    r.push_back({"start time (`--keep-times`)", "mkv",
                 [](ClipSpec& spec) {
                   spec.time_base = {1, 1000};
                   for (int i = 0; i < spec.frames; ++i) spec.pts.push_back(1480 + 40 * i);
                 },
                 has("stream.0.start_time", "1.480000"), "start time", nullptr});
    r.push_back({"frames at varying times", "mkv",
                 [](ClipSpec& spec) {
                   spec.time_base = {1, 1000};
                   for (int i = 0; i < spec.frames; ++i)
                     spec.pts.push_back(1000 + 40 * i + 7 * (i % 3));
                 },
                 [](const Report&, const Report& out) {
                   return out.mentions("best_effort_timestamp_time") &&
                          out.says("best_effort_timestamp_time", "1.047000") &&
                          out.says("best_effort_timestamp_time", "1.094000") &&
                          out.says("best_effort_timestamp_time", "1.120000");
                 },
                 "times", nullptr});
    r.push_back(colour_row(
        "sample aspect ratio", "aspect",
        [](AVCodecContext& e) {
          e.sample_aspect_ratio = {3, 2};
        },
        has("0.sample_aspect_ratio", "3:2")));
    r.push_back(colour_row(
        "primaries, transfer, matrix", "colour",
        [](AVCodecContext& e) {
          e.color_primaries = AVCOL_PRI_BT2020;
          e.color_trc = AVCOL_TRC_ARIB_STD_B67;
          e.colorspace = AVCOL_SPC_BT2020_NCL;
        },
        [](const Report&, const Report& out) {
          return out.says("color_primaries", "bt2020") &&
                 out.says("color_transfer", "arib-std-b67") && out.says("color_space", "bt2020nc");
        }));
    r.push_back(colour_row(
        "full range", "range", [](AVCodecContext& e) { e.color_range = AVCOL_RANGE_JPEG; },
        has("frame.0.color_range", "pc")));
    r.push_back(colour_row(
        "chroma location", "chroma location",
        [](AVCodecContext& e) { e.chroma_sample_location = AVCHROMA_LOC_TOPLEFT; },
        has("0.chroma_location", "topleft")));
    r.push_back({"field order", "mkv",
                 [](ClipSpec& spec) {
                   spec.height = 64;
                   spec.encoder_options = {{"flags", "+ildct+ilme"}};
                 },
                 [](const Report&, const Report& out) {
                   return out.says("frame.0.interlaced_frame", "1") ||
                          out.says("0.field_order", "tb") || out.says("0.field_order", "bb") ||
                          out.says("0.field_order", "bt") || out.says("0.field_order", "tt");
                 },
                 "order of fields", nullptr});
    r.push_back({"HDR10: mastering display, light level", "mkv",
                 [](ClipSpec& spec) {
                   spec.encoder = "libx265";
                   spec.width = spec.height = 64;
                   spec.encoder_options = {
                       {"x265-params",
                        "log-level=none:cutree=0:master-display=G(13250,34500)B(7500,3000)"
                        "R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400"}};
                 },
                 [](const Report&, const Report& out) {
                   // FFmpeg 5.1 does not read this property from H.264, but reports its presence.
                   return (out.says("max_content", "1000") && out.says("max_average", "400") &&
                           out.mentions("white_point_x")) ||
                          (out.traces("display_primaries_x[0]", 13250) &&
                           out.traces("max_content_light_level", 1000));
                 },
                 "HDR10", nullptr});
    r.push_back(
        {"HDR10+ of each frame", "mkv", [](ClipSpec&) {}, has_hdr_plus, "HDR10+", add_hdr_plus});
    r.push_back({"A53 captions of each frame", "mkv", [](ClipSpec&) {},
                 [](const Report&, const Report& out) {
                   return out.says("side_data_type", "ATSC A53 Part 4 Closed Captions");
                 },
                 "A53", add_captions});
    r.push_back({"language of sound", "mkv",
                 [](ClipSpec& spec) {
                   spec.audio = "mp2";
                   spec.decorate = [](AVFormatContext& c) {
                     av_dict_set(&c.streams[1]->metadata, "language", "jpn", 0);
                   };
                 },
                 has("1.tags.language", "jpn"), "1", nullptr});
    r.push_back({"FLAC sound", "mkv", [](ClipSpec& spec) { spec.audio = "flac"; },
                 has("codec_name", "flac"), "flac", nullptr});
    r.push_back({"AAC sound", "mkv", [](ClipSpec& spec) { spec.audio = "aac"; },
                 has("codec_name", "aac"), "aac", nullptr});
    r.push_back({"SubRip subtitles", "mkv", [](ClipSpec& spec) { spec.subtitles = "subrip"; },
                 has("codec_name", "subrip"), "subtitle", nullptr,
                 [](const Report& out) {
                   return out.says("codec_name", "mov_text") || out.says("codec_name", "webvtt");
                 }});
    r.push_back(stream_row(
        "attachments", "attachment",
        [](AVFormatContext& c) {
          AVStream* file = avformat_new_stream(&c, nullptr);
          file->codecpar->codec_type = AVMEDIA_TYPE_ATTACHMENT;
          file->codecpar->codec_id = AV_CODEC_ID_TTF;
          file->codecpar->extradata =
              static_cast<std::uint8_t*>(av_mallocz(8 + AV_INPUT_BUFFER_PADDING_SIZE));
          file->codecpar->extradata_size = 8;
          av_dict_set(&file->metadata, "filename", "serif.ttf", 0);
          av_dict_set(&file->metadata, "mimetype", "application/x-truetype-font", 0);
        },
        has("tags.filename", "serif.ttf")));
    return r;
  }();
  return all;
}

SinkOptions options_of(const Column& column) {
  SinkOptions options;
  options.vcodec = column.encoder;
  options.overwrite = true;
  options.keep_times = true;
  return options;
}

void make_input(const std::string& path, const Row& row) {
  ClipSpec spec;
  spec.encoder = "libx264";
  spec.width = 128;
  spec.height = 96;
  spec.frames = 8;
  spec.audio_seconds = 0.3;
  row.make(spec);
  make_clip(path, spec);
}

/// Returns "kept", "converted", "warned" or "refused", or a description of the failure.
/// `before` describes the input file of the row.
std::string cell_of(const Row& row, const Column& column, const Report& before,
                    const TemporaryFolder& folder) {
  const std::string in = folder / ("in." + row.extension), out = folder / ("o." + column.extension);
  std::vector<std::string> losses;
  try {
    losses = convert(in, out, options_of(column), row.add_to_frames);
  } catch (const InvalidArgument& error) {
    return std::string(error.what()).find(row.name) != std::string::npos
               ? "refused"
               : std::string("refused without its name: ") + error.what();
  }
  const Report after(out);
  if (row.converted && row.converted(after)) return "converted";
  const bool kept = row.kept(before, after);
  const bool named = std::ranges::any_of(
      losses, [&](const auto& text) { return text.find(row.name) != text.npos; });
  if (kept && named) return "kept, though a warning says that it is lost";
  return kept ? "kept" : named ? "warned" : "lost without a word";
}

std::vector<std::string> table_of_document() {
  std::ifstream file(table_file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("| ")) lines.push_back(line);
  return lines;
}

class Metadata : public testing::TestWithParam<int> {};

TEST_P(Metadata, MatchesTheTableOfTheDocumentation) {
  if (!missing_ffprobe().empty()) GTEST_SKIP() << missing_ffprobe();
  for (const char* encoder : {"libx264", "libx265", "libvpx-vp9", "ffv1"})
    if (!has_encoder(encoder)) GTEST_SKIP() << "this FFmpeg has no " << encoder;
  const Row& row = rows()[GetParam()];
  const TemporaryFolder folder;
  const std::string in = folder / ("in." + row.extension);
  make_input(in, row);
  const Report before(in);
  std::string line = "| " + row.title + " |";
  for (const Column& column : columns()) line += " " + cell_of(row, column, before, folder) + " |";
  // Other releases of FFmpeg keep more.
  EXPECT_THAT(line, testing::Not(testing::HasSubstr("lost without")));
  if (LIBAVFORMAT_VERSION_MAJOR == 59) {
    EXPECT_THAT(table_of_document(), testing::Contains(line));
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Metadata, testing::Range(0, static_cast<int>(rows().size())),
                         [](const auto& info) {
                           std::string name = rows()[info.param].title;
                           std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
                           return name;
                         });

}  // namespace
}  // namespace lull::io::test
