#include "io/encode/encoder_choice.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "io/encode/converter.h"
#include "io/encode/nearest_format.h"
#include "io/encode/sample_depth.h"
#include "io/pictures/sequence.h"
#include "io/tiff/tiff_picture.h"

namespace lull::io {
namespace {

// Pixel formats for JPEG. The encoder of FFmpeg also accepts formats that many programs
// misinterpret.
constexpr AVPixelFormat jpeg_formats[] = {AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P,
                                          AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_NONE};

std::string extension_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  if (!extension.empty()) extension.erase(0, 1);
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  return extension;
}

/// Returns whether the output is the bare stream of one codec, such as .hevc or .m2v. FFmpeg's
/// muxers for such streams write packets of any codec.
bool is_elementary(const AVOutputFormat& format) {
  constexpr int flags = AVFMT_NOTIMESTAMPS | AVFMT_NODIMENSIONS;
  return (format.flags & flags) == AVFMT_NOTIMESTAMPS && format.audio_codec == AV_CODEC_ID_NONE &&
         format.subtitle_codec == AV_CODEC_ID_NONE;
}

bool holds(const Container& container, const AVCodec& codec) {
  if (container.traits->holds) return container.traits->holds(codec.id);
  if (!container.still() && is_elementary(*container.format))
    return codec.id == container.format->video_codec;
  // If FFmpeg does not know whether the container supports the codec, `avformat_query_codec()`
  // returns a negative number. lull then assumes support.
  return container.still() ||
         avformat_query_codec(container.format, codec.id, FF_COMPLIANCE_NORMAL) != 0;
}

const AVPixelFormat* formats_of(const Container& container, const AVCodec& codec) {
  if (codec.id == AV_CODEC_ID_MJPEG) return jpeg_formats;
  if (container.uses_libtiff()) return container.tiff_formats;
  const bool raw = codec.id == AV_CODEC_ID_WRAPPED_AVFRAME || codec.id == AV_CODEC_ID_RAWVIDEO;
  return raw && container.traits->raw_formats ? container.traits->raw_formats : codec.pix_fmts;
}

/// Returns whether the encoder writes JPEG and the source has a colour matrix other than BT.601.
/// JPEG always has the matrix of BT.601.
bool has_other_matrix(const AVCodec& codec, const FileSource& source) {
  if (codec.id != AV_CODEC_ID_MJPEG || source.traits().format.layout != Layout::yuv) return false;
  AVColorSpace space = source.first().colorspace;
  if (space == AVCOL_SPC_UNSPECIFIED) space = default_colour_space(source.format().height);
  return space != AVCOL_SPC_BT470BG && space != AVCOL_SPC_SMPTE170M;
}

struct RequestedFormat {
  AVPixelFormat format;
  PixelTraits traits;
  bool full_range;
  bool convert;
};

/// Returns the pixel format with the layout of `format` and the requested bit depth.
AVPixelFormat with_requested_bits(AVPixelFormat format, const PixelTraits& traits, int bits) {
  if (bits == 0 || (traits.format.bits == bits && traits.format.sample != SampleType::f32))
    return format;
  const AVPixelFormat found = format_with_bits(traits, bits);
  if (found == AV_PIX_FMT_NONE)
    throw InvalidArgument("--bits " + std::to_string(bits) + " (FFmpeg has no pixel format like " +
                          name_of(format) + " with this bit depth); give another, such as " +
                          (bits < 12 ? "10" : "16"));
  return found;
}

AVPixelFormat named_format(const std::string& pix_fmt) {
  const AVPixelFormat format = av_get_pix_fmt(pix_fmt.c_str());
  if (format == AV_PIX_FMT_NONE) throw InvalidArgument("no such pixel format: " + pix_fmt);
  const std::optional<PixelTraits> traits = traits_of(format);
  if (!traits || packable(format, *traits) != format)
    throw InvalidArgument(
        "--pix-fmt " + pix_fmt +
        " (must be grey, YCbCr or RGB of 8 to 16 bits, or planar floats); give another");
  return format;
}

RequestedFormat requested_format(const FileSource& source, const SinkOptions& options) {
  const bool full =
      source.first().color_range == AVCOL_RANGE_JPEG || is_full_range_yuv(source.pixel_format());
  const AVPixelFormat own = packable(source.pixel_format(), source.traits());
  const AVPixelFormat named = options.pix_fmt.empty() ? own : named_format(options.pix_fmt);
  const AVPixelFormat format =
      with_requested_bits(named, named == own ? source.traits() : *traits_of(named), options.bits);
  if (format == own) return {own, source.traits(), full, false};
  const PixelTraits traits = *traits_of(format);
  const bool same_range = !is_full_range_yuv(format) || full;
  return {format, traits, full || is_full_range_yuv(format),
          traits != source.traits() || !same_range};
}

/// Returns whether the conversion to `format` changes at most the bit depth and omits at most
/// alpha.
bool changes_depth_only(const AVCodec& codec, const FileSource& source, AVPixelFormat format) {
  const PixelTraits& own = source.traits();
  const std::optional<PixelTraits> target = traits_of(format);
  if (!target || (target->alpha && !own.alpha)) return false;
  FrameFormat same_depth = target->format;
  same_depth.bits = own.format.bits;
  same_depth.sample = own.format.sample;
  const bool integers =
      own.format.sample != SampleType::f32 && target->format.sample != SampleType::f32;
  const bool same_range = !is_full_range_yuv(format) || has_full_range(source);
  return integers && same_range && same_depth == own.format && !has_other_matrix(codec, source);
}

AVPixelFormat format_for(const Container& container, const AVCodec& codec,
                         const RequestedFormat& wanted) {
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
                              const RequestedFormat& wanted, int bits) {
  std::string advice = "give --pix-fmt or another --vcodec";
  if (container.still()) {
    advice = "give --pix-fmt or write a .png";
    const StillTraits& still = *still_traits(container.extension);
    if (still.no_layout_advice && !wanted.traits.alpha) advice = still.no_layout_advice;
    if (wanted.format != AV_PIX_FMT_NONE && wanted.traits.format.layout == Layout::yuv)
      advice = "give --pix-fmt rgb24";
  } else if (container.traits->raw_frames) {
    advice = container.pipe ? "give --output-format nut" : "use .mkv";
  }
  if (bits != 0)
    advice = container.still() ? "give another --bits" : "give another --bits or --vcodec";
  throw InvalidArgument(std::string(container.encoder_name(codec)) + " cannot hold " +
                        name_of(wanted.format) + " (it holds " + list_formats(container, codec) +
                        "); " + advice);
}

/// Returns the encoder and the pixel format for GIF. A GIF picture has at most 256 colours. As in
/// FFmpeg, the palette is fixed and has no transparent colour, and the conversion uses dithering.
EncoderChoice gif_choice(const AVCodec& codec, bool has_alpha) {
  return {.codec = &codec,
          .format = AV_PIX_FMT_BGR8,
          .convert = true,
          .loss = std::string("most colours") + (has_alpha ? " and transparency" : "") +
                  " (gif holds 256 colours; use .apng or .webp)",
          .note = {}};
}

/// Returns the formats of the list that have the bit depth `bits`; all formats if `bits` is 0.
std::vector<AVPixelFormat> of_bit_depth(const AVPixelFormat* list, int bits) {
  std::vector<AVPixelFormat> found;
  for (; list && *list != AV_PIX_FMT_NONE; ++list)
    if (const auto traits = traits_of(*list); traits && (bits == 0 || traits->format.bits == bits))
      found.push_back(*list);
  found.push_back(AV_PIX_FMT_NONE);
  return found;
}

/// Returns each usable encoder with its nearest pixel format, in order of increasing loss. An
/// encoder of raw frames is not usable here: programs that read raw frames may expect the pixel
/// format of the input.
std::vector<EncoderChoice> nearest_choices(const Container& container,
                                           const std::vector<const AVCodec*>& codecs,
                                           const FileSource& source, const RequestedFormat& wanted,
                                           const SinkOptions& options) {
  std::vector<std::pair<int, EncoderChoice>> found;
  for (const AVCodec* codec : codecs) {
    const bool is_raw =
        codec->id == AV_CODEC_ID_RAWVIDEO || codec->id == AV_CODEC_ID_WRAPPED_AVFRAME;
    if (is_raw && !container.uses_libtiff()) continue;
    if (codec->id == AV_CODEC_ID_GIF && !options.lossless && options.bits == 0 &&
        wanted.traits.format.layout != Layout::gray &&
        wanted.traits.format.sample != SampleType::f32) {
      found.emplace_back(0, gif_choice(*codec, wanted.traits.alpha));
      continue;
    }
    PixelTraits traits = wanted.traits;
    // VP9 counts as an encoder without alpha, because most decoders ignore its alpha.
    if (codec->id == AV_CODEC_ID_VP9) traits.alpha = false;
    const AVPixelFormat format =
        nearest_format(of_bit_depth(formats_of(container, *codec), options.bits).data(), traits,
                       wanted.full_range);
    if (format == AV_PIX_FMT_NONE) continue;
    const FormatLoss loss = loss_of(wanted.traits, *traits_of(format));
    if (options.lossless && (loss.any() || loss.rounding)) continue;
    const std::string why = std::string(container.encoder_name(*codec)) + " cannot hold " +
                            name_of(wanted.format) + "; samples become " + name_of(format);
    EncoderChoice choice{.codec = codec, .format = format, .convert = true, .loss = {}, .note = {}};
    choice.changes_depth_only = changes_depth_only(*codec, source, format);
    if (loss.any())
      choice.loss = describe(loss, wanted.traits) + " (" + why + ")";
    else
      choice.note = why;
    found.emplace_back(loss.weight(), std::move(choice));
  }
  std::ranges::stable_sort(found, {}, &std::pair<int, EncoderChoice>::first);
  std::vector<EncoderChoice> choices;
  for (auto& [weight, choice] : found) choices.push_back(std::move(choice));
  return choices;
}

/// Returns the suitable encoders for a video, in order of preference.
std::vector<const char*> default_encoders(const FileSource& source, const PixelTraits& samples) {
  std::vector<const char*> names;
  if (samples.format.layout == Layout::gray) {
    // The list begins with x265 for grey video, because FFmpeg's H.264 decoder converts grey to
    // YCbCr.
    names = {"libx265", "libx264"};
  } else if (source.info().interlaced) {
    // The list begins with x264 for interlaced video, because FFmpeg's wrapper of x265 does not
    // support interlaced frames.
    names = {"libx264", "libx265"};
  } else if (samples.format.bits == 8) {
    names = {"libx264", "libx264rgb", "libx265"};
  } else {
    names = {"libx265", "libx264"};
  }
  // VP9 is an alternative for odd frame sizes with subsampled chroma, which x264 and x265 do not
  // accept. VP9 is no alternative for video with alpha, because most decoders ignore the alpha of
  // VP9.
  if (!samples.alpha) names.push_back("libvpx-vp9");
  names.push_back("ffv1");
  return names;
}

std::vector<const char*> names_of(const Container& container, const FileSource& source,
                                  const PixelTraits& samples, bool lossless) {
  const auto list = [](std::span<const char* const> names) {
    return std::vector<const char*>(names.begin(), names.end());
  };
  const ContainerTraits& traits = *container.traits;
  if (container.still()) return {container.picture};
  if (traits.raw_frames) return list(traits.encoders);
  if (container.pipe && !traits.pipe_encoders.empty()) return list(traits.pipe_encoders);
  if (container.format->video_codec == AV_CODEC_ID_RAWVIDEO) return {"rawvideo"};
  if (lossless) return {"ffv1"};
  return traits.encoders.empty() ? default_encoders(source, samples) : list(traits.encoders);
}

std::vector<const AVCodec*> candidates(const Container& container, const FileSource& source,
                                       const RequestedFormat& wanted, bool lossless) {
  std::vector<const AVCodec*> found;
  for (const char* name : names_of(container, source, wanted.traits, lossless))
    if (const AVCodec* codec = avcodec_find_encoder_by_name(name))
      if (holds(container, *codec)) found.push_back(codec);
  if (found.empty() && lossless)
    throw InvalidArgument(std::string("--lossless in ") + container.format->name +
                          " (it cannot hold FFV1); use .mkv");
  if (const AVCodec* default_codec = avcodec_find_encoder(container.format->video_codec);
      default_codec && !container.still() && !lossless)
    found.push_back(default_codec);
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

/// Returns the default format for a pipe: the format of a NUT or raw input, or else Y4M.
std::string pipe_format(const FileSource& source) {
  const std::string& input = source.info().container;
  return input == "nut" ? "nut" : input == "rawvideo" ? "raw" : "y4m";
}

const AVOutputFormat* output_format(const Container& container, bool by_name) {
  if (container.still()) return av_guess_format("image2pipe", nullptr, nullptr);
  if (container.extension == "raw") return av_guess_format("rawvideo", nullptr, nullptr);
  // The argument is only the extension, because `av_guess_format()` could interpret a '%' in the
  // complete file name as a pattern.
  const auto* format = av_guess_format(nullptr, ("x." + container.extension).c_str(), nullptr);
  if (format || !by_name) return format;
  return av_guess_format(container.extension.c_str(), nullptr, nullptr);
}

/// Adds a note that few players support RGB samples in H.264 or HEVC.
void warn_of_rgb(EncoderChoice& choice) {
  const AVCodecID id = choice.codec->id;
  const bool of_players = id == AV_CODEC_ID_H264 || id == AV_CODEC_ID_HEVC;
  const std::optional<PixelTraits> traits = traits_of(choice.format);
  if (!of_players || !traits || traits->format.layout != Layout::rgb) return;
  choice.note += (choice.note.empty() ? "" : "; ") + std::string("few players support ") +
                 (id == AV_CODEC_ID_H264 ? "H.264" : "HEVC") +
                 " of RGB; all support --pix-fmt yuv420p";
}

}  // namespace

bool Container::constant_rate() const { return frames_only() || traits->constant_rate; }

bool Container::frames_only() const {
  return still() || (format->flags & AVFMT_NOTIMESTAMPS) || traits->frames_only;
}

bool is_still_name(const std::string& path, const std::string& format) {
  const std::string kind = format.empty() ? extension_of(path) : format;
  return still_traits(kind) != nullptr;
}

bool makes_animation(const std::string& path, const FileSource& source,
                     const SinkOptions& options) {
  const StillTraits* still =
      still_traits(options.format.empty() ? extension_of(path) : options.format);
  return still && still->animated && !source.info().still && !options.single &&
         (path == "-" || !(is_glob(path) || number_pattern(path)));
}

std::string describe(const AVStream& stream) {
  const char* type = av_get_media_type_string(stream.codecpar->codec_type);
  return "stream " + std::to_string(stream.index) + " (" + (type ? type : "unknown") + ", " +
         avcodec_get_name(stream.codecpar->codec_id) + ")";
}

Container container_of(const std::string& path, const FileSource& source,
                       const SinkOptions& options) {
  const std::string& format = options.format;
  Container container;
  container.drops = options.drops;
  container.keep_times = options.keep_times;
  container.pipe = path == "-";
  container.extension = !format.empty()  ? format
                        : container.pipe ? pipe_format(source)
                                         : extension_of(path);
  if (const StillTraits* still = still_traits(container.extension);
      still && !makes_animation(path, source, options)) {
    const bool grey = source.traits().format.layout == Layout::gray;
    container.picture = grey && still->grey_encoder ? still->grey_encoder : still->encoder;
    const bool has_options = !options.vcodec.empty() || !options.vopts.empty() || options.crf;
    if (still->is_tiff && !container.pipe && !has_options) {
      container.picture = "wrapped_avframe";
      container.tiff_formats = source.is_tiff() ? tiff_formats_of_tiff : tiff_formats;
    }
  }
  container.format = output_format(container, !format.empty());
  if (!container.format || container.format->flags & AVFMT_NOFILE ||
      container.format->video_codec == AV_CODEC_ID_NONE ||
      // lull does not write FITS, because FFmpeg's muxer does not preserve the sample range.
      container.format->video_codec == AV_CODEC_ID_FITS ||
      (!container.still() && container.format->video_codec == AV_CODEC_ID_PNG))  // covers in MP3
    throw InvalidArgument(format.empty() ? "no container for '" + path +
                                               "' (its extension names no video or picture); use "
                                               ".mkv or .mp4"
                                         : "no such output format: " + format +
                                               " (it holds no video); give y4m, raw or nut");
  container.traits = &container_traits(container.format->name);
  using Covers = ContainerTraits::Covers;
  const AVDictionary* tags = options.drops.tags ? nullptr : source.demuxer().context().metadata;
  container.covers = container.traits->covers == Covers::as_stream ||
                     (container.traits->covers == Covers::with_listed_tags &&
                      !needs_free_tags(*container.traits, tags));
  return container;
}

std::vector<EncoderChoice> choose_encoders(const Container& container, const FileSource& source,
                                           const SinkOptions& options) {
  const RequestedFormat wanted = requested_format(source, options);
  const std::vector<const AVCodec*> codecs =
      options.vcodec.empty() ? candidates(container, source, wanted, options.lossless)
                             : std::vector{named_encoder(container, options.vcodec)};
  std::vector<EncoderChoice> choices;
  for (const AVCodec* codec : codecs) {
    const AVPixelFormat format = format_for(container, *codec, wanted);
    const bool convert = wanted.convert || has_other_matrix(*codec, source);
    if (format != AV_PIX_FMT_NONE)
      choices.push_back(
          {codec, format, convert, changes_depth_only(*codec, source, format), {}, {}});
  }
  if (choices.empty() && options.pix_fmt.empty())
    choices = nearest_choices(container, codecs, source, wanted, options);
  if (choices.empty()) fail_format(container, *codecs.front(), wanted, options.bits);
  if (options.vcodec.empty() && options.pix_fmt.empty())
    for (EncoderChoice& choice : choices) warn_of_rgb(choice);
  return choices;
}

}  // namespace lull::io
