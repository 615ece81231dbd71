#include "io/demux/input_container.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "io/demux/container_check.h"
#include "io/exr/exr_file.h"
#include "io/metadata/multi_picture.h"
#include "io/pictures/unsupported_format.h"
#include "io/tiff/tiff_file.h"

namespace lull::io {
namespace {

const AVInputFormat* named_format(const std::string& name) {
  const AVInputFormat* format = av_find_input_format(name == "y4m" ? "yuv4mpegpipe" : name.c_str());
  if (!format || format->flags & AVFMT_NOFILE || format == av_find_input_format("rawvideo"))
    throw InvalidArgument("no such input format: " + name +
                          " (FFmpeg reads none of that name from a file); leave it out");
  return format;
}

void describe_raw(const RawVideo& raw, std::int64_t max_pixels, Dictionary& options) {
  if (av_get_pix_fmt(raw.pix_fmt.c_str()) == AV_PIX_FMT_NONE)
    throw InvalidArgument("no such pixel format: " + raw.pix_fmt);
  if (raw.width < 1 || raw.height < 1)
    throw InvalidArgument("raw video of " + std::to_string(raw.width) + "x" +
                          std::to_string(raw.height) +
                          " (sides must be at least 1); give --size WxH");
  if (std::int64_t{raw.width} * raw.height > max_pixels)
    throw InvalidArgument("raw video of " + std::to_string(raw.width) + "x" +
                          std::to_string(raw.height) + " (more than " + std::to_string(max_pixels) +
                          " pixels); allow it with --max-pixels");
  options.set("pixel_format", raw.pix_fmt);
  options.set("video_size", std::to_string(raw.width) + "x" + std::to_string(raw.height));
}

/// Returns whether the demuxer with this name reads still pictures.
bool holds_stills(std::string_view format) {
  return format.ends_with("_pipe") && format != "gif_pipe";
}

/// Returns whether FFmpeg has a parser for the codec. A parser can detect the end of a picture.
bool has_parser(AVCodecID codec) {
  void* state = nullptr;
  while (const AVCodecParser* parser = av_parser_iterate(&state))
    if (std::ranges::find(parser->codec_ids, codec) != std::end(parser->codec_ids)) return true;
  return false;
}

void set_apng_format(AVFormatContext& context, AVPixelFormat format) {
  for (unsigned i = 0; i < context.nb_streams; ++i)
    if (AVCodecParameters& codec = *context.streams[i]->codecpar;
        codec.codec_id == AV_CODEC_ID_APNG)
      codec.format = format;
}

bool is_tile(const AVStream* stream) {
  return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
         (stream->disposition & AV_DISPOSITION_DEPENDENT) != 0;
}

std::string joined(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

}  // namespace

const AVInputFormat* netpbm_format(std::span<const std::uint8_t> head) {
  if (head.size() < 3 || head[0] != 'P' || head[1] < '1' || head[1] > '7') return nullptr;
  if (head[1] == '7') return head[2] == '\n' ? av_find_input_format("pam_pipe") : nullptr;
  constexpr const char* names[] = {"pbm_pipe", "pgm_pipe", "ppm_pipe"};
  const bool is_header =
      std::string_view(" \t\n\v\f\r#").find(static_cast<char>(head[2])) != std::string_view::npos;
  return is_header ? av_find_input_format(names[(head[1] - '1') % 3]) : nullptr;
}

InputContainer::InputContainer(InputBytes& bytes, const SourceOptions& source, bool picture,
                               const LogTopic& log, DamageCount& damage)
    : bytes_(bytes), watch_(log) {
  Dictionary options;
  if (source.raw) describe_raw(*source.raw, source.limits.pixels, options);
  if (source.raw || picture)
    options.set("framerate",
                std::to_string(source.rate.num) + "/" + std::to_string(source.rate.den));
  // A playlist may refer to other files. FFmpeg opens these files only with the allowed protocols.
  options.set("protocol_whitelist", bytes_.whitelist());
  is_multi_picture_ =
      !bytes_.pipe() && !source.raw && source.format.empty() && is_multi_picture_file(name());
  open(find_format(source), options, source.limits);
  // FFmpeg's demuxer for ANSI art ("tty") accepts any text file, so lull rejects this demuxer.
  if (std::string_view(context_->iformat->name) == "tty")
    throw BadData("'" + name() + "' is not a video or picture (it is text)");
  const bool file = !bytes_.pipe();
  const std::string cut = file ? find_truncation(name(), *context_) : "";
  if (!cut.empty()) damage.add_truncation("'" + name() + "' is cut short (" + cut + ")");
  const std::string_view format = context_->iformat->name;
  if (format == "tiff_pipe") {
    if (!is_tiff_file(name()))
      throw BadData("'" + name() +
                    "' is a TIFF picture (libtiff reads it from a file only); give a file");
    reader_ = PictureReader::tiff;
  } else if (file && format == "exr_pipe" && is_exr_file(name())) {
    reader_ = PictureReader::exr;
  }
  if (reader_ == PictureReader::ffmpeg && holds_stills(format))
    find_still_stream();
  else if (reader_ == PictureReader::ffmpeg)
    find_streams(source.limits);
  find_video(source.video);
}

/// Throws an error for formats that FFmpeg cannot read, and for formats that FFmpeg mistakes for
/// other formats.
/// @throws BadData
void InputContainer::refuse_unsupported() const {
  AVIOContext& io = bytes_.io();
  if ((io.seekable & AVIO_SEEKABLE_NORMAL) == 0) return;
  std::array<std::uint8_t, format_head_bytes> head{};
  const int count = avio_read(&io, head.data(), format_head_bytes);
  avio_seek(&io, 0, SEEK_SET);
  const std::string text =
      unsupported_format({head.data(), static_cast<std::size_t>(std::max(count, 0))});
  if (!text.empty()) throw BadData("'" + name() + "' is " + text);
}

/// Format detection uses only the content, because FFmpeg would interpret '%' or '*' in the file
/// name as a pattern.
const AVInputFormat* InputContainer::find_format(const SourceOptions& options) const {
  if (options.raw) return av_find_input_format("rawvideo");
  if (!options.format.empty()) return named_format(options.format);
  refuse_unsupported();
  if (is_multi_picture_) return av_find_input_format("jpeg_pipe");
  std::array<std::uint8_t, 3> head{};
  const int count = avio_read(&bytes_.io(), head.data(), static_cast<int>(head.size()));
  avio_seek(&bytes_.io(), 0, SEEK_SET);  // works for pipes, too, because the buffer has these bytes
  if (count == std::ssize(head))
    if (const AVInputFormat* netpbm = netpbm_format(head)) return netpbm;
  // FFmpeg cannot recognise BigTIFF.
  if (!bytes_.pipe() && is_tiff_file(name())) return av_find_input_format("tiff_pipe");
  const AVInputFormat* format = nullptr;
  if (av_probe_input_buffer2(&bytes_.io(), &format, "", nullptr, 0, 0) < 0 || !format)
    fail_opening(options.limits);
  return format;
}

void InputContainer::open(const AVInputFormat* format, Dictionary& options, const Limits& limits) {
  AVFormatContext* context = non_null(avformat_alloc_context());
  context->pb = &bytes_.io();
  context->max_streams = limits.streams;
  context->interrupt_callback = bytes_.interrupt_callback();
  // If `avformat_open_input()` fails, FFmpeg has already freed the context.
  if (avformat_open_input(&context, bytes_.url().c_str(), format, options.address()) < 0)
    fail_opening(limits);
  context_.reset(context);
}

void InputContainer::fail_opening(const Limits& limits) const {
  if (!watch_.find("exceeds max_streams").empty()) fail_streams(limits);
  if (bytes_.pipe() && bytes_.pipe()->bytes() == 0) throw BadData("'" + name() + "' is empty");
  // Most MP4 files have their index (the box "moov") at the end. A truncation removes the index.
  const bool mp4 = !watch_.find("moov").empty();
  const std::string cut = mp4 ? " or cut short" : "";
  throw BadData(with_log("'" + name() + "' is not a video or picture" + cut, watch_));
}

// Reads the properties of a still picture. The provisional size and format keep
// `avformat_find_stream_info()` from decoding the picture. Only lull's decoder may decode it,
// because this decoder first checks the picture.
void InputContainer::find_still_stream() {
  AVCodecParameters& codec = *context_->streams[0]->codecpar;
  if (bytes_.pipe() && !has_parser(codec.codec_id))
    throw BadData("'" + name() + "' is a picture of the kind " + avcodec_get_name(codec.codec_id) +
                  " (FFmpeg cannot find its end in a pipe); give a file");
  codec.width = codec.height = 1;
  codec.format = AV_PIX_FMT_GRAY8;
  check<BadData>(avformat_find_stream_info(context_.get(), nullptr),
                 "'" + name() + "' is no picture");
  codec.width = codec.height = 0;
  codec.format = AV_PIX_FMT_NONE;
}

// Reads the properties of the streams. The function first checks the sizes, because
// `avformat_find_stream_info()` decodes frames. The function also sets the pixel format of an APNG
// picture in advance, so that FFmpeg does not decode the picture here. Only lull's decoder may
// decode the picture, because this decoder first checks it.
void InputContainer::find_streams(const Limits& limits) {
  check_sizes(limits);
  set_apng_format(*context_, AV_PIX_FMT_RGBA);
  const unsigned known = context_->nb_streams;
  std::vector<AVDictionary*> options(known, nullptr);
  for (AVDictionary*& entry : options)
    av_dict_set(&entry, "max_pixels", std::to_string(limits.pixels).c_str(), 0);
  const int code =
      avformat_find_stream_info(context_.get(), options.empty() ? nullptr : options.data());
  for (AVDictionary*& entry : options) av_dict_free(&entry);
  set_apng_format(*context_, AV_PIX_FMT_NONE);
  check_sizes(limits);
  if (code < 0) throw BadData(with_log("'" + name() + "' is not a video or picture", watch_));
}

void InputContainer::fail_streams(const Limits& limits) const {
  throw BadData("'" + name() + "' has more than " + std::to_string(limits.streams) +
                " streams; allow it with --max-streams");
}

void InputContainer::check_sizes(const Limits& limits) const {
  if (static_cast<std::int64_t>(context_->nb_streams) > limits.streams ||
      !watch_.find("exceeds max_streams").empty())
    fail_streams(limits);
  bool large = !watch_.find("exceeds specified max pixel count").empty();
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    const AVCodecParameters& codec = *context_->streams[i]->codecpar;
    large |= codec.codec_type == AVMEDIA_TYPE_VIDEO && codec.width > 0 && codec.height > 0 &&
             std::int64_t{codec.width} * codec.height > limits.pixels;
  }
  if (large)
    throw BadData("'" + name() + "' has more than " + std::to_string(limits.pixels) +
                  " pixels in a frame; allow it with --max-pixels");
}

void InputContainer::find_video(const std::optional<int>& number) {
  if (number) return choose_video(*number);
  video_ = av_find_best_stream(context_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (video_ >= 0 && is_part_of_tiled_picture(*context_, video_))
    throw BadData("'" + name() +
                  "' is a picture of tiles (lull does not join them); convert it to PNG or TIFF");
  if (video_ >= 0 && !(video().disposition & AV_DISPOSITION_ATTACHED_PIC)) return;
  throw BadData(
      "'" + name() + "' has no video stream (it is " +
      (context_->iformat->long_name ? context_->iformat->long_name : context_->iformat->name) +
      ")");
}

void InputContainer::choose_video(int number) {
  const std::vector<int> videos = video_streams(*context_);
  if (std::ranges::find(videos, number) == videos.end())
    throw InvalidArgument("--video " + std::to_string(number) + " of '" + name() +
                          "' (its video streams have the numbers: " + joined(videos) +
                          "); choose one of them");
  video_ = number;
}

bool is_part_of_tiled_picture(const AVFormatContext& context, int video) {
  const std::span<AVStream* const> streams(context.streams, context.nb_streams);
  return std::ranges::any_of(streams, is_tile) &&
         !(context.streams[video]->disposition & AV_DISPOSITION_DEFAULT);
}

std::vector<int> video_streams(const AVFormatContext& context) {
  std::vector<int> numbers;
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVStream& stream = *context.streams[i];
    if (stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO && stream.discard != AVDISCARD_ALL &&
        !(stream.disposition & AV_DISPOSITION_ATTACHED_PIC) && !is_tile(&stream))
      numbers.push_back(static_cast<int>(i));
  }
  return numbers;
}

}  // namespace lull::io
