#include "io/encode/sample_depth.h"

namespace lull::io {

AVPixelFormat format_with_bits(const PixelTraits& traits, int bits) {
  PixelTraits wanted = traits;
  wanted.format.bits = bits;
  wanted.format.sample = bits == 8 ? SampleType::u8 : SampleType::u16;
  AVPixelFormat found = AV_PIX_FMT_NONE;
  for (const AVPixFmtDescriptor* d = nullptr; (d = av_pix_fmt_desc_next(d)) != nullptr;) {
    const AVPixelFormat format = av_pix_fmt_desc_get_id(d);
    const std::optional<PixelTraits> own = traits_of(format);
    const bool foreign = bits > 8 && (d->flags & AV_PIX_FMT_FLAG_BE) != 0;
    if (!own || *own != wanted || packable(format, *own) != format || foreign ||
        is_full_range_yuv(format) || sws_isSupportedInput(format) == 0 ||
        sws_isSupportedOutput(format) == 0)
      continue;
    // The function prefers planar formats, because lull's frames are planar.
    if ((d->flags & AV_PIX_FMT_FLAG_PLANAR) != 0) return format;
    if (found == AV_PIX_FMT_NONE) found = format;
  }
  return found;
}

bool has_full_range(const FileSource& source) {
  const AVColorRange range = source.first().color_range;
  switch (source.traits().format.layout) {
    case Layout::gray:
      return range != AVCOL_RANGE_MPEG;
    case Layout::yuv:
      return range == AVCOL_RANGE_JPEG || is_full_range_yuv(source.pixel_format());
    case Layout::rgb:
      return true;
  }
  return true;
}

bool changes_range(Layout source, AVPixelFormat target) {
  return source == Layout::yuv && is_full_range_yuv(target);
}

ResultSamples samples_for(const EncoderChoice& choice, const FileSource& source, Dither dither) {
  const PixelTraits& own = source.traits();
  if (own.format.sample == SampleType::f32) return {};
  const ResultSamples samples{.full_range = has_full_range(source), .dither = dither};
  if (!choice.convert) return samples;
  const std::optional<PixelTraits> target = traits_of(choice.format);
  if (!target) return {};  // a fixed palette, to which FFmpeg dithers
  ResultSamples converted = samples;
  if (choice.changes_depth_only) {
    converted.bits = target->format.bits;
    return converted;
  }
  converted.dither = Dither::none;  // the samples are dithered after the conversion
  if (changes_range(own.format.layout, choice.format)) return converted;
  converted.full_range = false;  // for FFmpeg's conversions, white is 255 followed by zero bits
  for (int bits = 16; bits > own.format.bits; --bits)
    if (format_with_bits(own, bits) != AV_PIX_FMT_NONE) {
      converted.bits = bits;
      break;
    }
  return converted;
}

}  // namespace lull::io
