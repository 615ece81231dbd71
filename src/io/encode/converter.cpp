#include "io/encode/converter.h"

#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {
namespace {

bool is_rgb(const AVFrame& picture) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  return (d->flags & AV_PIX_FMT_FLAG_RGB) != 0;
}

/// Returns whether a picture is grey and states no sample range. As in FFmpeg, such a picture has
/// the full range, because most grey pictures are still pictures.
bool is_plain_grey(const AVFrame& picture) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  return d->nb_components <= 2 && picture.color_range == AVCOL_RANGE_UNSPECIFIED;
}

int is_full_range(const AVFrame& picture) {
  return is_rgb(picture) || is_plain_grey(picture) || picture.color_range == AVCOL_RANGE_JPEG ||
         is_full_range_yuv(static_cast<AVPixelFormat>(picture.format));
}

const int* matrix_of(const AVFrame& picture) {
  AVColorSpace space = picture.colorspace;
  if (space == AVCOL_SPC_UNSPECIFIED || space == AVCOL_SPC_RGB)
    space = default_colour_space(picture.height);
  return sws_getCoefficients(space);  // the constants of swscale equal those of AVColorSpace
}

}  // namespace

AVColorSpace default_colour_space(int height) {
  return height >= 720 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
}

Converter::Converter(const AVFrame& from, const AVFrame& to) {
  constexpr int exact =
      SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT;
  const auto from_format = static_cast<AVPixelFormat>(from.format);
  const auto to_format = static_cast<AVPixelFormat>(to.format);
  context_.reset(sws_getContext(from.width, from.height, from_format, to.width, to.height,
                                to_format, exact, nullptr, nullptr, nullptr));
  if (!context_)
    throw InvalidArgument(std::string("cannot convert ") + name_of(from_format) + " to " +
                          name_of(to_format) + "; give another --pix-fmt");
  constexpr int unit = 1 << 16;  // 1.0 for contrast and saturation, in swscale's fixed-point format
  sws_setColorspaceDetails(context_.get(), matrix_of(from), is_full_range(from), matrix_of(to),
                           is_full_range(to), 0, unit, unit);
}

void Converter::convert(const AVFrame& from, AVFrame& to) const {
  check<InternalError>(
      sws_scale(context_.get(), from.data, from.linesize, 0, from.height, to.data, to.linesize),
      "cannot convert the pixel format");
}

}  // namespace lull::io
