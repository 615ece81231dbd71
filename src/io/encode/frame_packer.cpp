#include "io/encode/frame_packer.h"

#include <cmath>

#include "core/denoiser.h"
#include "core/samples.h"
#include "io/encode/sample_depth.h"
#include "io/ffmpeg/side_data.h"

namespace lull::io {
namespace {

/// Returns the pixel format in which the packer passes samples to FFmpeg's converter.
AVPixelFormat pixel_format_of(AVPixelFormat source, const PixelTraits& traits,
                              const FrameFormat& frames) {
  if (frames.bits == traits.format.bits) return packable(source, traits);
  const AVPixelFormat format = format_with_bits(traits, frames.bits);
  if (format == AV_PIX_FMT_NONE)
    throw InternalError("frames have " + std::to_string(frames.bits) +
                        " bits, for which FFmpeg has no pixel format");
  return format;
}

bool has_full_range(const AVCodecContext& encoder, const PixelTraits& traits) {
  if (traits.format.layout == Layout::rgb) return true;
  if (traits.format.layout == Layout::gray) return encoder.color_range != AVCOL_RANGE_MPEG;
  return encoder.color_range == AVCOL_RANGE_JPEG;
}

/// Returns the format of the frames after the packer has rounded the samples to the encoder's bit
/// depth.
/// @param precise  the format before the rounding
/// @param samples  the bit depth and the range after the rounding. If `samples.full_range` is true,
///     the maximum sample value after the rounding is white.
FrameFormat rounded_format(const FrameFormat& precise, const ResultSamples& samples) {
  FrameFormat format = result_format(precise, samples);
  if (samples.full_range) format.luma_scale = 0;
  return format;
}

FrameFormat grey_of(const FrameFormat& frames) {
  return {
      .width = frames.width, .height = frames.height, .sample = frames.sample, .bits = frames.bits};
}

}  // namespace

AVFrame& PicturePool::writable() {
  for (const FramePtr& picture : pictures_)
    if (av_frame_is_writable(picture.get())) return *picture;
  return *pictures_.emplace_back(make_picture(format_, width_, height_));
}

FramePacker::FramePacker(AVPixelFormat source, const PixelTraits& traits, const FrameFormat& frames,
                         const EncoderChoice& choice, Dither dither)
    : source_(source), format_(frames), dither_(dither) {
  const std::optional<PixelTraits> target = traits_of(choice.format);
  converts_ = !target || target->format.bits != frames.bits ||
              (choice.convert && !choice.changes_depth_only);
  if (converts_)
    unconverted_.emplace(pixel_format_of(source, traits, frames), frames.width, frames.height);
}

void FramePacker::pack(const Frame& frame, const AVCodecContext& encoder, AVFrame& out) {
  const Frame* const alpha = alpha_of(frame);
  if (!converts_) return lull::io::pack(frame, alpha, out);
  AVFrame& plain = unconverted_->writable();
  lull::io::pack(frame, alpha, plain);
  if (!converter_) {
    if (frame.side_data) {
      plain.colorspace = frame.side_data->properties->colorspace;
      plain.color_range = frame.side_data->properties->color_range;
    }
    if (is_full_range_yuv(source_)) plain.color_range = AVCOL_RANGE_JPEG;
    open_converter(plain, encoder, out);
  }
  if (!rounding_) return converter_->convert(plain, out);
  AVFrame& precise = rounding_->writable();
  converter_->convert(plain, precise);
  rounding_->round(precise, out);
}

/// Returns the sample value of white after FFmpeg's conversion to 16-bit full range. FFmpeg
/// multiplies 8-bit samples by 256, so 255 becomes 65280.
float FramePacker::converted_white(const AVFrame& plain) const {
  if (format_.sample == SampleType::f32) return 65535;
  if (format_.layout == Layout::yuv && plain.color_range != AVCOL_RANGE_JPEG) return 255 * 256;
  return static_cast<float>(std::ldexp(format_.full_scale(), 16 - format_.bits));
}

void FramePacker::open_converter(const AVFrame& plain, const AVCodecContext& encoder,
                                 AVFrame& out) {
  out.colorspace = encoder.colorspace;
  out.color_range = encoder.color_range;
  const auto target = static_cast<AVPixelFormat>(out.format);
  const std::optional<PixelTraits> traits = traits_of(target);
  const bool integers = traits && traits->format.sample != SampleType::f32;
  const AVPixelFormat precise = integers && !changes_range(format_.layout, target)
                                    ? format_with_bits(*traits, 16)
                                    : AV_PIX_FMT_NONE;
  if (precise == AV_PIX_FMT_NONE) {
    converter_.emplace(plain, out);
    return;
  }
  const bool full = has_full_range(encoder, *traits) || is_full_range_yuv(target);
  FrameFormat format = traits->format;
  format.width = format_.width;
  format.height = format_.height;
  format.sample = SampleType::u16;
  format.bits = 16;
  if (full) format.luma_scale = converted_white(plain);
  if (full && format.layout == Layout::yuv) format.chroma_scale = format.luma_scale;
  rounding_.emplace(
      precise, format, traits->alpha,
      ResultSamples{.bits = traits->format.bits, .full_range = full, .dither = dither_});
  AVFrame& converted = rounding_->writable();
  converted.colorspace = out.colorspace;
  converted.color_range = full ? AVCOL_RANGE_JPEG : out.color_range;
  converter_.emplace(plain, converted);
}

const Frame* FramePacker::alpha_of(const Frame& frame) {
  if (!frame.side_data || !frame.side_data->alpha.pixels) return nullptr;
  const Frame& alpha = frame.side_data->alpha;
  if (alpha.format.bits == frame.format.bits) return &alpha;
  if (!alpha_pool_) alpha_pool_.emplace(grey_of(frame.format));
  alpha_ = copied(alpha, *alpha_pool_);
  return &alpha_;
}

FramePacker::Rounding::Rounding(AVPixelFormat picture, const FrameFormat& format, bool has_alpha,
                                const ResultSamples& samples)
    : pictures_(picture, format.width, format.height),
      has_alpha_(has_alpha),
      precise_(format),
      results_(rounded_format(format, samples)),
      precise_alpha_(grey_of(format)),
      alpha_(result_format(grey_of(format), {.bits = samples.bits, .full_range = true})) {}

void FramePacker::Rounding::round(const AVFrame& precise, AVFrame& out) {
  const Frame from = precise_.acquire();
  if (!has_alpha_) {
    unpack(precise, from, nullptr);
    return lull::io::pack(copied(from, results_), nullptr, out);
  }
  const Frame alpha = precise_alpha_.acquire();
  unpack(precise, from, &alpha);
  const Frame result_alpha = copied(alpha, alpha_);
  lull::io::pack(copied(from, results_), &result_alpha, out);
}

}  // namespace lull::io
