#include "io/probe.h"

extern "C" {
#include <libavutil/display.h>
}

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "io/encode/encoder.h"
#include "io/encode/picture_side_data.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/stacks/stack.h"
#include "io/volumes/volume_name.h"
#include "io/write/losses.h"
#include "io/write/metadata_embedder.h"
#include "io/write/sequence_sink.h"
#include "io/write/stream_handling.h"
#include "io/zarr/zarr_name.h"

namespace lull::io {
namespace {

std::string or_unknown(const char* name) {
  return name && std::string_view(name) != "unspecified" ? name : "unknown";
}

std::string tag(const AVDictionary* metadata, const char* key) {
  const AVDictionaryEntry* entry = av_dict_get(metadata, key, nullptr, 0);
  return entry ? entry->value : "";
}

std::string details_of(const AVCodecParameters& codec) {
  if (codec.codec_type == AVMEDIA_TYPE_AUDIO) {
    char layout[128] = "";
    av_channel_layout_describe(&codec.ch_layout, layout, sizeof layout);
    return std::to_string(codec.sample_rate) + " Hz, " + layout;
  }
  if (codec.codec_type == AVMEDIA_TYPE_VIDEO && codec.width > 0)
    return std::to_string(codec.width) + "x" + std::to_string(codec.height);
  return {};
}

const char* text_of(AVFieldOrder order) {
  switch (order) {
    case AV_FIELD_PROGRESSIVE:
      return "progressive";
    case AV_FIELD_TT:
    case AV_FIELD_TB:
      return "top field first";
    case AV_FIELD_BB:
    case AV_FIELD_BT:
      return "bottom field first";
    default:
      return "unknown";
  }
}

double rotation_of(const FileSource& source) {
  const auto data = picture_data(source, AV_PKT_DATA_DISPLAYMATRIX);
  std::array<std::int32_t, 9> matrix;
  if (data.size() < sizeof matrix) return 0;
  std::memcpy(matrix.data(), data.data(), sizeof matrix);
  const double degrees = -av_display_rotation_get(matrix.data());
  return std::isfinite(degrees) ? degrees : 0;
}

const char* text_of(StreamHandling handling) {
  switch (handling) {
    case StreamHandling::copied:
    case StreamHandling::as_file:
    case StreamHandling::as_cover:
      return "copied";
    case StreamHandling::converted:
      return "converted";
    case StreamHandling::regenerated:
      return "made anew";
    case StreamHandling::dropped:
      return "dropped";
    case StreamHandling::omitted:
      return "left out";
    case StreamHandling::refused:
      return "refused";
  }
  return "";
}

StreamReport report_of(const AVStream& stream) {
  const char* type = av_get_media_type_string(stream.codecpar->codec_type);
  return {stream.index,
          type ? type : "unknown",
          avcodec_get_name(stream.codecpar->codec_id),
          tag(stream.metadata, "language"),
          tag(stream.metadata, "title"),
          details_of(*stream.codecpar),
          {}};
}

void describe_video(const FileSource& source, InputReport& report) {
  const AVFrame& first = source.first();
  const AVStream& stream = source.demuxer().video();
  report.range = or_unknown(av_color_range_name(first.color_range));
  report.primaries = or_unknown(av_color_primaries_name(first.color_primaries));
  report.transfer = or_unknown(av_color_transfer_name(first.color_trc));
  report.matrix = or_unknown(av_color_space_name(first.colorspace));
  report.chroma_location = or_unknown(av_chroma_location_name(first.chroma_location));
  report.field_order = text_of(source.decoder().field_order);
  report.aspect = to_rational(av_guess_sample_aspect_ratio(
      &source.demuxer().context(), const_cast<AVStream*>(&stream), const_cast<AVFrame*>(&first)));
  if (stream.start_time != AV_NOPTS_VALUE)
    report.start_s = static_cast<double>(stream.start_time) * av_q2d(stream.time_base);
  report.rotation = rotation_of(source);
}

/// Reports that the output lacks the chapters and all streams except the denoised stream. The
/// function serves outputs that are not containers; `why` is the reason in the report.
void lose_others(const std::string& why, InputReport& report) {
  for (StreamReport& stream : report.streams)
    if (stream.fate.empty()) {
      stream.fate = "left out";
      report.lost.push_back("stream " + std::to_string(stream.index) + " (" + stream.type + ", " +
                            stream.codec + "): " + why);
    }
  if (report.chapters > 0)
    report.lost.push_back(std::to_string(report.chapters) + " chapters: " + why);
}

void add_losses(const std::vector<std::string>& losses, InputReport& report) {
  report.lost.insert(report.lost.end(), losses.begin(), losses.end());
}

/// Reports which metadata of a still picture the output cannot store. Returns the EXIF orientation
/// by which lull rotates the samples; 1 if it does not rotate them.
int report_metadata(const FileSource& source, const Container& container,
                    const SinkOptions& options, const std::vector<EncoderChoice>& choices,
                    InputReport& report) {
  const MetadataEmbedder embedder(source, container, options, choices);
  add_losses(embedder.losses(), report);
  return embedder.rotation();
}

void describe_output(FileSource& source, const SinkOptions& options, InputReport& report) {
  const std::string& output = report.output;
  if (output == "null" || output == "hash") return lose_others("only frames are used", report);
  if (makes_layered_exr(output, source, options)) {
    report.encoder = "openexr";
    report.pixel_format = source.info().pixel_format;
    report.keeps_layers = true;
    return;
  }
  Container container = container_of(output, source, options);
  try {
    Dictionary leftover;
    const std::vector<EncoderChoice> choices = choose_encoders(container, source, options);
    const bool copies_tags = copies_tiff_tags(source, container);
    if (container.still() && !copies_tags)
      container.rotation = report_metadata(source, container, options, choices, report);
    else if (!container.still())
      add_losses(picture_losses_in_video(source, container), report);
    const auto encoder = open_encoder(choices, container, source, options, leftover);
    report.encoder = container.encoder_name(*encoder->choice().codec);
    report.pixel_format = name_of(encoder->choice().format);
    if (!encoder->choice().loss.empty()) report.lost.push_back(encoder->choice().loss);
    if (copies_tags)
      add_losses(predict_tiff_changes(source, options, encoder->choice().format).losses, report);
    if (!container.still()) add_losses(losses_of(source, container, encoder->context()), report);
  } catch (const InvalidArgument& e) {
    report.lost.push_back(std::string("the video: ") + e.what());
  }
  add_losses(lost_layers(source), report);
  if (container.still()) return lose_others("pictures hold nothing else", report);
  const AVFormatContext& context = source.demuxer().context();
  const std::string format = container.format->name;
  for (StreamReport& stream : report.streams) {
    if (!stream.fate.empty()) continue;
    const StreamHandling handling = handling_of(*context.streams[stream.index], container);
    stream.fate = text_of(handling);
    if (handling != StreamHandling::omitted && handling != StreamHandling::refused) continue;
    const AVStream& lost = *context.streams[stream.index];
    const std::string reason = reason_of_omission(lost, container);
    report.lost.push_back(describe(lost) + ": " +
                          (reason.empty() ? format + " cannot hold it" : reason));
  }
  if (source.selector() && report.chapters > 0)
    report.lost.push_back(std::to_string(report.chapters) + " chapters: the input is cut");
}

/// Describes a stack and checks its output format.
void describe_stack(const MediaSource& source, const SinkOptions& options, InputReport& report) {
  report.range = report.primaries = report.transfer = report.matrix = report.chroma_location =
      report.field_order = or_unknown(nullptr);
  const bool volume = report.video.volume;
  if (report.output.empty())
    report.output = volume                             ? "output.nii"
                    : report.video.container == "zarr" ? "output.zarr"
                                                       : "output.tif";
  if (report.output == "null" || report.output == "hash") return;
  try {
    check_stack_output(report.output, report.video);
    const VolumeFormat format = volume_format(report.output);
    const bool is_named_volume = volume && format != VolumeFormat::none;
    report.encoder = is_named_volume               ? container_of(format)
                     : volume                      ? "dicom"
                     : is_zarr_name(report.output) ? "zarr"
                                                   : "tiff";
    report.pixel_format = report.video.pixel_format;
    add_losses(losses_of_volume(report.output, source, options), report);
    add_losses(losses_of_planes(report.output, source), report);
  } catch (const InvalidArgument& e) {
    report.lost.push_back(std::string("the stack: ") + e.what());
  }
}

}  // namespace

InputReport probe(const std::string& path, const SourceOptions& options, const std::string& output,
                  const SinkOptions& sink) {
  const auto opened = open_source(path, options);
  InputReport report;
  report.path = path;
  report.video = opened->info();
  report.format = opened->format();
  report.output = output;
  auto* file = dynamic_cast<FileSource*>(opened.get());
  if (!file) {
    describe_stack(*opened, sink, report);
    return report;
  }
  FileSource& source = *file;
  if (output.empty()) report.output = "output.mkv";
  const AVFormatContext& context = source.demuxer().context();
  report.alpha = source.traits().alpha;
  report.layers = source.layers();
  report.videos = source.videos();
  for (const SequenceFile& file : source.demuxer().sequence()) report.files.push_back(file.path);
  report.chapters = static_cast<int>(context.nb_chapters);
  describe_video(source, report);
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVStream& stream = *context.streams[i];
    const bool video = &stream == &source.demuxer().video();
    // FFmpeg marks a stream as discarded if it reports the content of the stream elsewhere. An
    // example is the chapter stream of MP4. The report omits such streams.
    if (!video && stream.discard == AVDISCARD_ALL) continue;
    report.streams.push_back(report_of(stream));
    if (video) report.streams.back().fate = "denoised";
  }
  describe_output(source, sink, report);
  return report;
}

}  // namespace lull::io
