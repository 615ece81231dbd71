#include "io/encoder_choice.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace lull::io {
namespace {

struct StillType {
  std::string_view extension;
  const char* encoder;
};
// "pnm" is grey or colour as it comes.
constexpr std::array<StillType, 11> still_types{{{"png", "png"},
                                                 {"exr", "exr"},
                                                 {"tif", "tiff"},
                                                 {"tiff", "tiff"},
                                                 {"pgm", "pgm"},
                                                 {"ppm", "ppm"},
                                                 {"pnm", "ppm"},
                                                 {"pam", "pam"},
                                                 {"bmp", "bmp"},
                                                 {"jpg", "mjpeg"},
                                                 {"jpeg", "mjpeg"}}};

// What the muxer takes; it tells only when it is too late.
constexpr AVPixelFormat y4m_formats[] = {
    AV_PIX_FMT_GRAY8,     AV_PIX_FMT_GRAY9,     AV_PIX_FMT_GRAY10,    AV_PIX_FMT_GRAY12,
    AV_PIX_FMT_GRAY16,    AV_PIX_FMT_YUV411P,   AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,
    AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUV420P9,  AV_PIX_FMT_YUV422P9,  AV_PIX_FMT_YUV444P9,
    AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV444P10, AV_PIX_FMT_YUV420P12,
    AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV444P12, AV_PIX_FMT_YUV420P14, AV_PIX_FMT_YUV422P14,
    AV_PIX_FMT_YUV444P14, AV_PIX_FMT_YUV420P16, AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV444P16,
    AV_PIX_FMT_NONE};

// What NUT carries as samples and FFmpeg reads back as the same; it takes some others for these.
constexpr AVPixelFormat nut_formats[] = {
    AV_PIX_FMT_GRAY8,     AV_PIX_FMT_GRAY10,    AV_PIX_FMT_GRAY12,    AV_PIX_FMT_GRAY16,
    AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,   AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUV420P9,
    AV_PIX_FMT_YUV422P9,  AV_PIX_FMT_YUV444P9,  AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P10,
    AV_PIX_FMT_YUV444P10, AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV444P12,
    AV_PIX_FMT_YUV420P14, AV_PIX_FMT_YUV422P14, AV_PIX_FMT_YUV444P14, AV_PIX_FMT_YUV420P16,
    AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV444P16, AV_PIX_FMT_RGB24,     AV_PIX_FMT_RGBA,
    AV_PIX_FMT_GBRP9,     AV_PIX_FMT_GBRP10,    AV_PIX_FMT_GBRP12,    AV_PIX_FMT_GBRP14,
    AV_PIX_FMT_GBRP16,    AV_PIX_FMT_RGB48,     AV_PIX_FMT_RGBA64,    AV_PIX_FMT_GBRAP10,
    AV_PIX_FMT_GBRAP12,   AV_PIX_FMT_GBRAP16,   AV_PIX_FMT_YUVA420P,  AV_PIX_FMT_YUVA422P,
    AV_PIX_FMT_YUVA444P,  AV_PIX_FMT_YA8,       AV_PIX_FMT_NONE};

std::string extension_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  if (!extension.empty()) extension.erase(0, 1);
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  return extension;
}

bool holds(const Container& container, const AVCodec& codec) {
  if (std::string_view(container.format->name) == "mpegts") return has_transport_type(codec.id);
  // Negative: the muxer has no opinion.
  return container.still() ||
         avformat_query_codec(container.format, codec.id, FF_COMPLIANCE_NORMAL) != 0;
}

const AVPixelFormat* formats_of(const Container& container, const AVCodec& codec) {
  if (codec.id == AV_CODEC_ID_WRAPPED_AVFRAME && container.extension == "y4m") return y4m_formats;
  if (codec.id == AV_CODEC_ID_RAWVIDEO && container.extension == "nut") return nut_formats;
  return codec.pix_fmts;
}

struct Wanted {
  AVPixelFormat format;
  PixelTraits traits;
  bool full_range;
  bool convert;
};

Wanted wanted_format(const FileSource& source, const std::string& pix_fmt) {
  const bool full =
      source.first().color_range == AVCOL_RANGE_JPEG || is_full_range_yuv(source.pixel_format());
  const AVPixelFormat own = packable(source.pixel_format(), source.traits());
  if (pix_fmt.empty()) return {own, source.traits(), full, false};
  const AVPixelFormat format = av_get_pix_fmt(pix_fmt.c_str());
  if (format == AV_PIX_FMT_NONE) throw InvalidArgument("no such pixel format: " + pix_fmt);
  const std::optional<PixelTraits> traits = traits_of(format);
  if (!traits || packable(format, *traits) != format)
    throw InvalidArgument(
        "--pix-fmt " + pix_fmt +
        " (must be grey, YCbCr or RGB of 8 to 16 bits, or planar floats); give another");
  const bool same_range = !is_full_range_yuv(format) || full;
  return {format, *traits, full || is_full_range_yuv(format),
          *traits != source.traits() || !same_range};
}

AVPixelFormat format_for(const Container& container, const AVCodec& codec, const Wanted& wanted) {
  const AVPixelFormat* formats = formats_of(container, codec);
  if (!formats) return wanted.format;
  return find_equal(formats, wanted.format, wanted.traits, wanted.full_range);
}

std::string list_formats(const Container& container, const AVCodec& codec) {
  std::string list;
  for (const AVPixelFormat* f = formats_of(container, codec); f && *f != AV_PIX_FMT_NONE; ++f)
    list.append(list.empty() ? "" : " ").append(name_of(*f));
  return list;
}

[[noreturn]] void fail_format(const Container& container, const AVCodec& codec,
                              const Wanted& wanted) {
  std::string advice = "give --pix-fmt or another --vcodec";
  if (container.still()) {
    advice = "give --pix-fmt or write a .png";
    if (container.extension == "pgm" && !wanted.traits.alpha) advice = "use .ppm for colour";
    if (container.extension == "ppm" && !wanted.traits.alpha) advice = "use .pgm for grey";
    if (wanted.format != AV_PIX_FMT_NONE && wanted.traits.format.layout == Layout::yuv)
      advice = "give --pix-fmt rgb24";
  } else if (container.extension == "y4m") {
    advice = container.pipe ? "give --output-format nut" : "use .mkv";
  }
  throw InvalidArgument(std::string(codec.name) + " cannot hold " + name_of(wanted.format) +
                        " (it holds " + list_formats(container, codec) + "); " + advice);
}

std::vector<const AVCodec*> candidates(const Container& container, const FileSource& source,
                                       const Wanted& wanted, bool lossless) {
  std::vector<const char*> names;
  if (container.still()) {
    names = {container.picture};
  } else if (container.extension == "y4m") {
    names = {"wrapped_avframe"};
  } else if (container.pipe && container.extension == "nut") {
    names = {"rawvideo", "ffv1"};  // the next program need not decode
  } else if (container.format->video_codec == AV_CODEC_ID_RAWVIDEO) {
    names = {"rawvideo"};
  } else if (lossless) {
    names = {"ffv1"};
  } else if (container.extension == "webm") {
    names = {"libvpx-vp9"};
  } else if (wanted.traits.format.layout == Layout::gray) {
    // FFmpeg's H.264 decoder makes YCbCr of grey; x265's grey stays what it is.
    names = {"libx265", "libx264"};
  } else if (source.info().interlaced) {
    // FFmpeg codes frames of two fields with x264 alone.
    names = {"libx264", "libx265"};
  } else if (wanted.traits.format.bits == 8) {
    names = {"libx264", "libx264rgb", "libx265"};
  } else {
    names = {"libx265", "libx264"};
  }
  // x264 and x265 want even sides where chroma is subsampled, VP9 does not; its alpha is lost on
  // most decoders.
  if (names.front() == std::string_view("libx264") ||
      names.front() == std::string_view("libx265")) {
    if (!wanted.traits.alpha) names.push_back("libvpx-vp9");
    names.push_back("ffv1");
  }
  std::vector<const AVCodec*> found;
  for (const char* name : names)
    if (const AVCodec* codec = avcodec_find_encoder_by_name(name))
      if (holds(container, *codec)) found.push_back(codec);
  if (found.empty() && lossless)
    throw InvalidArgument(std::string("--lossless in ") + container.format->name +
                          " (it cannot hold FFV1); use .mkv");
  if (const AVCodec* usual = avcodec_find_encoder(container.format->video_codec);
      usual && !container.still() && !lossless)
    found.push_back(usual);
  if (found.empty())
    throw InvalidArgument(std::string("no encoder for ") + container.format->name +
                          " in this build of FFmpeg; use .mkv");
  return found;
}

const AVCodec* named_encoder(const Container& container, const std::string& name) {
  const AVCodec* codec = avcodec_find_encoder_by_name(name.c_str());
  if (!codec)
    if (const AVCodecDescriptor* d = avcodec_descriptor_get_by_name(name.c_str()))
      codec = avcodec_find_encoder(d->id);
  if (!codec || codec->type != AVMEDIA_TYPE_VIDEO)
    throw InvalidArgument("no such encoder: " + name);
  const AVCodec* picture =
      container.still() ? avcodec_find_encoder_by_name(container.picture) : nullptr;
  if (!holds(container, *codec) || (picture && picture->id != codec->id))
    throw InvalidArgument("." + container.extension + " cannot hold " + name +
                          (picture ? "; leave --vcodec out" : "; use .mkv"));
  return codec;
}

/// What goes into a pipe unless the user says: what came, if it was made for pipes.
std::string pipe_format(const FileSource& source) {
  const std::string& input = source.info().container;
  return input == "nut" ? "nut" : input == "rawvideo" ? "raw" : "y4m";
}

const AVOutputFormat* output_format(const Container& container, bool by_name) {
  if (container.still()) return av_guess_format("image2pipe", nullptr, nullptr);
  if (container.extension == "raw") return av_guess_format("rawvideo", nullptr, nullptr);
  // The extension alone: a '%' in the name is no pattern.
  const auto* format = av_guess_format(nullptr, ("x." + container.extension).c_str(), nullptr);
  if (format || !by_name) return format;
  return av_guess_format(container.extension.c_str(), nullptr, nullptr);
}

}  // namespace

bool has_transport_type(AVCodecID id) {
  constexpr std::array<AVCodecID, 24> known = {
      AV_CODEC_ID_MPEG1VIDEO,   AV_CODEC_ID_MPEG2VIDEO,   AV_CODEC_ID_MPEG4,
      AV_CODEC_ID_H264,         AV_CODEC_ID_HEVC,         AV_CODEC_ID_CAVS,
      AV_CODEC_ID_DIRAC,        AV_CODEC_ID_VC1,          AV_CODEC_ID_MP2,
      AV_CODEC_ID_MP3,          AV_CODEC_ID_AAC,          AV_CODEC_ID_AAC_LATM,
      AV_CODEC_ID_AC3,          AV_CODEC_ID_EAC3,         AV_CODEC_ID_DTS,
      AV_CODEC_ID_TRUEHD,       AV_CODEC_ID_OPUS,         AV_CODEC_ID_S302M,
      AV_CODEC_ID_DVB_SUBTITLE, AV_CODEC_ID_DVB_TELETEXT, AV_CODEC_ID_HDMV_PGS_SUBTITLE,
      AV_CODEC_ID_SMPTE_KLV,    AV_CODEC_ID_TIMED_ID3,    AV_CODEC_ID_SCTE_35};
  return std::ranges::find(known, id) != known.end();
}

bool Container::constant_rate() const {
  constexpr std::array<std::string_view, 4> formats = {"avi", "mxf", "gxf", "dv"};
  return frames_only() || std::ranges::find(formats, format->name) != formats.end();
}

bool Container::frames_only() const {
  return still() || (format->flags & AVFMT_NOTIMESTAMPS) || extension == "y4m";
}

bool is_still_name(const std::string& path, const std::string& format) {
  const std::string kind = format.empty() ? extension_of(path) : format;
  return std::ranges::any_of(still_types, [&](const StillType& t) { return t.extension == kind; });
}

std::string describe(const AVStream& stream) {
  const char* type = av_get_media_type_string(stream.codecpar->codec_type);
  return "stream " + std::to_string(stream.index) + " (" + (type ? type : "unknown") + ", " +
         avcodec_get_name(stream.codecpar->codec_id) + ")";
}

Container container_of(const std::string& path, const FileSource& source,
                       const std::string& format) {
  Container container;
  container.pipe = path == "-";
  container.extension = !format.empty()  ? format
                        : container.pipe ? pipe_format(source)
                                         : extension_of(path);
  for (const StillType& type : still_types)
    if (type.extension == container.extension) container.picture = type.encoder;
  if (container.extension == "pnm" && source.traits().format.layout == Layout::gray)
    container.picture = "pgm";
  container.format = output_format(container, !format.empty());
  if (!container.format || container.format->flags & AVFMT_NOFILE ||
      container.format->video_codec == AV_CODEC_ID_NONE ||
      (!container.still() && container.format->video_codec == AV_CODEC_ID_PNG))  // of MP3: covers
    throw InvalidArgument(format.empty() ? "no container for '" + path +
                                               "' (its extension names no video or picture); use "
                                               ".mkv or .mp4"
                                         : "no such output format: " + format +
                                               " (it holds no video); give y4m, raw or nut");
  return container;
}

std::vector<EncoderChoice> choose_encoders(const Container& container, const FileSource& source,
                                           const SinkOptions& options) {
  const Wanted wanted = wanted_format(source, options.pix_fmt);
  const std::vector<const AVCodec*> codecs =
      options.vcodec.empty() ? candidates(container, source, wanted, options.lossless)
                             : std::vector{named_encoder(container, options.vcodec)};
  std::vector<EncoderChoice> choices;
  for (const AVCodec* codec : codecs) {
    const AVPixelFormat format = format_for(container, *codec, wanted);
    if (format != AV_PIX_FMT_NONE) choices.push_back({codec, format, wanted.convert});
  }
  if (choices.empty()) fail_format(container, *codecs.front(), wanted);
  return choices;
}

}  // namespace lull::io
