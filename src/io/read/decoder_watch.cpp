#include "io/read/decoder_watch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace lull::io {
namespace {

/// Phrases in FFmpeg's error messages about damaged EXIF and APP segments, which do not affect the
/// samples.
constexpr std::array<std::string_view, 3> harmless = {"unable to decode APP fields", "Exif data",
                                                      "EXIF data"};

/// Phrase in FFmpeg's warning about a truncated JPEG picture. FFmpeg's decoder fills the missing
/// part with grey.
constexpr std::string_view missing_end = "EOI missing";

bool means_damage(bool is_error, const std::string& text) {
  if (!is_error) return text.find(missing_end) != text.npos;
  return std::ranges::none_of(
      harmless, [&](std::string_view phrase) { return text.find(phrase) != text.npos; });
}

/// Upper bounds for the number of samples that one byte of a packet can contain, for each codec.
struct Density {
  double bits_per_byte = 0;    // bits of samples per byte of a packet; 0: no bound
  double pixels_per_byte = 0;  // pixels per byte of a packet; 0: no bound
  int bytes_per_row = 0;       // minimum for a row; shorter rows need one byte per pixel
};

Density max_density(AVCodecID codec, AVPixelFormat format) {
  switch (codec) {
    case AV_CODEC_ID_PNG:
      return {.bits_per_byte = 8 * 1032.0};  // deflate: one byte can become 1032 (zlib's manual)
    case AV_CODEC_ID_PPM:
    case AV_CODEC_ID_PGM:
    case AV_CODEC_ID_PGMYUV:
    case AV_CODEC_ID_PBM:
    case AV_CODEC_ID_PAM:
    case AV_CODEC_ID_PFM:
    case AV_CODEC_ID_XWD:
      return {.bits_per_byte = 8};
    case AV_CODEC_ID_BMP:  // runs with a palette may leave samples out
      return {.bits_per_byte = format == AV_PIX_FMT_PAL8 ? 0.0 : 8.0};
    case AV_CODEC_ID_PCX:
      return {.bits_per_byte = 8 * 63 / 2.0};  // runs of 63 bytes take 2 bytes
    case AV_CODEC_ID_SUNRAST:
      return {.bits_per_byte = 8 * 256 / 3.0};  // runs of 256 bytes take 3 bytes
    case AV_CODEC_ID_TARGA:
      return {.bits_per_byte = 8 * 128.0};  // runs of 128 pixels take at least 2 bytes
    case AV_CODEC_ID_SGI:
      return {.bytes_per_row = 8};  // size of an entry in the table of rows
    case AV_CODEC_ID_QOI:
      return {.pixels_per_byte = 62};  // the longest run
    case AV_CODEC_ID_MJPEG:
      return {.pixels_per_byte = 8 * 64};  // a block of 8x8 takes at least one bit
    case AV_CODEC_ID_WEBP:
      // VP8 codes the prediction modes of each 16x16 macroblock with fixed probabilities, so a
      // macroblock needs more than one bit.
      return {.pixels_per_byte = format == AV_PIX_FMT_ARGB ? 0.0 : 8 * 16 * 16};
    default:
      return {};
  }
}

/// Returns whether the file may store 1 bit per sample, although the decoder returns pictures in
/// the format `format` with more bits per sample.
bool may_hold_bits(AVCodecID codec, AVPixelFormat format) {
  const bool grey = format == AV_PIX_FMT_GRAY8 && codec == AV_CODEC_ID_PNG;
  return format == AV_PIX_FMT_PAL8 || grey;
}

}  // namespace

bool logs_damage(const AVCodecDescriptor* codec) {
  constexpr int exact = AV_CODEC_PROP_INTRA_ONLY | AV_CODEC_PROP_LOSSLESS;
  return codec && codec->props & exact && !(codec->props & AV_CODEC_PROP_REORDER);
}

bool can_hold(AVCodecID codec, AVPixelFormat format, int width, int height,
              std::int64_t packet_bytes) {
  const AVPixFmtDescriptor* traits = av_pix_fmt_desc_get(format);
  if (!traits) return true;
  const Density dense = max_density(codec, format);
  const double bytes = static_cast<double>(packet_bytes), pixels = double{1} * width * height;
  const int bits = may_hold_bits(codec, format) ? 1 : av_get_bits_per_pixel(traits);
  if (dense.bits_per_byte > 0 && pixels * bits > bytes * dense.bits_per_byte) return false;
  if (dense.pixels_per_byte > 0 && pixels > bytes * dense.pixels_per_byte) return false;
  return double{1} * height * std::min(width, dense.bytes_per_row) <= bytes;
}

DecoderWatch::DecoderWatch(const LogTopic& topic)
    : mark_(topic, this, [this](const void* context, bool is_error, const std::string& text) {
        note(context, is_error, text);
      }) {}

void DecoderWatch::attach(AVCodecContext& decoder) {
  const std::lock_guard lock(mutex_);
  last_.clear();
  decoder.opaque = this;
}

void DecoderWatch::attach_with_buffers(AVCodecContext& decoder) {
  attach(decoder);
  decoder.get_buffer2 = allocate;
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  decoder.thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
}

void DecoderWatch::expect(const AVPacket& packet) {
  packet_bytes_ = std::max<std::int64_t>(packet_bytes_, packet.size);
}

void DecoderWatch::note(const void* context, bool is_error, const std::string& text) {
  if (!means_damage(is_error, text)) return;
  const std::lock_guard lock(mutex_);
  last_.insert_or_assign(context, Message{results_, text});
}

// Returns the damage that the decoder has logged for its next result. With N frame threads, the
// decoder begins result k (counted from 0) only after it has returned result k - N. The function
// therefore ignores earlier messages, because they concern earlier results.
std::string DecoderWatch::take_damage(const AVCodecContext& decoder, const AVFrame* picture) {
  const bool has_threads = decoder.active_thread_type == FF_THREAD_FRAME;
  const std::int64_t threads = has_threads ? std::max(decoder.thread_count, 1) : 1;
  const std::int64_t number = results_++;
  const std::lock_guard lock(mutex_);
  // With frame threads, the messages remain in `last_` after an error, because they may concern
  // pictures that the decoder has not yet returned.
  if (!picture && !has_threads) last_.clear();
  if (!picture) return {};
  const auto found = last_.find(picture->opaque ? picture->opaque : &decoder);
  if (found == last_.end()) return {};
  const Message message = std::move(found->second);
  last_.erase(found);
  return message.results > number - threads ? message.text : std::string();
}

int DecoderWatch::allocate(AVCodecContext* context, AVFrame* picture, int flags) {
  const auto& self = *static_cast<const DecoderWatch*>(context->opaque);
  const auto format = static_cast<AVPixelFormat>(picture->format);
  if (!can_hold(context->codec_id, format, picture->width, picture->height, self.packet_bytes_)) {
    av_log(context, AV_LOG_ERROR, "%d bytes cannot hold a picture of %dx%d\n",
           static_cast<int>(self.packet_bytes_), picture->width, picture->height);
    return AVERROR_INVALIDDATA;
  }
  const int code = avcodec_default_get_buffer2(context, picture, flags);
  if (code < 0) return code;
  for (const AVBufferRef* buffer : picture->buf)
    if (buffer) std::memset(buffer->data, 0, buffer->size);
  picture->opaque = context;
  return 0;
}

}  // namespace lull::io
