#include "io/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/frame_pool.h"
#include "io/encode/converter.h"
#include "io/ffmpeg/pixel_formats.h"
#include "io/ffmpeg/side_data.h"
#include "io/text_file.h"

namespace lull::io {
namespace {

/// Returns a pixel format that swscale can convert, and that can store frames of `format` without
/// loss.
AVPixelFormat format_for(const FrameFormat& format) {
  FrameFormat shape = format;
  shape.width = shape.height = 0;
  for (const AVPixFmtDescriptor* d = nullptr; (d = av_pix_fmt_desc_next(d));) {
    const AVPixelFormat id = av_pix_fmt_desc_get_id(d);
    const std::optional<PixelTraits> traits = traits_of(id);
    if (traits && *traits == PixelTraits{shape, false} && packable(id, *traits) == id &&
        !(d->flags & AV_PIX_FMT_FLAG_BE) && !is_full_range_yuv(id) && sws_isSupportedInput(id) > 0)
      return id;
  }
  throw InvalidArgument("frames of this kind cannot be shown (FFmpeg does not convert them)");
}

float srgb(float light) {
  return light <= 0.0031308f ? 12.92f * light : 1.055f * std::pow(light, 1 / 2.4f) - 0.055f;
}

void copy_floats(const Frame& frame, const Frame& to) {
  const bool light = frame.format.layout == Layout::rgb;
  const float white = frame.format.white;
  for (int i = 0; i < 3; ++i) {
    const PlaneView<const float> in = frame.plane<float>(frame.format.planes() == 3 ? i : 0);
    const PlaneView<std::uint16_t> out = to.plane<std::uint16_t>(i);
    for (int y = 0; y < in.height; ++y)
      for (int x = 0; x < in.width; ++x) {
        const float v = in(x, y) > 0 ? std::min(in(x, y) / white, 1.0f) : 0.0f;  // NaN becomes 0
        out(x, y) = static_cast<std::uint16_t>(std::lround(65535 * (light ? srgb(v) : v)));
      }
  }
}

}  // namespace

Frame to_rgb(const Frame& frame) {
  const FrameFormat& format = frame.format;
  FramePool pool({.width = format.width,
                  .height = format.height,
                  .layout = Layout::rgb,
                  .sample = SampleType::u16,
                  .bits = 16});
  Frame rgb = pool.acquire();
  if (format.sample == SampleType::f32) {
    copy_floats(frame, rgb);
    return rgb;
  }
  const FramePtr from = make_picture(format_for(format), format.width, format.height);
  const FramePtr to = make_picture(AV_PIX_FMT_RGB48, format.width, format.height);
  pack(frame, nullptr, *from);
  if (frame.side_data && frame.side_data->properties) {
    from->colorspace = frame.side_data->properties->colorspace;
    from->color_range = frame.side_data->properties->color_range;
  }
  Converter(*from, *to).convert(*from, *to);
  unpack(*to, rgb, nullptr);
  return rgb;
}

const Frame* alpha_of(const Frame& frame) {
  return frame.side_data && frame.side_data->alpha.pixels ? &frame.side_data->alpha : nullptr;
}

void set_alpha(Frame& frame, Frame alpha) {
  std::shared_ptr<SideData> side_data = copy_of(frame.side_data.get());
  side_data->alpha = std::move(alpha);
  frame.side_data = std::move(side_data);
}

std::string encode_png(const Frame& frame) {
  const AVPixelFormat format =
      frame.format.layout == Layout::gray ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_RGB24;
  const FramePtr picture = make_picture(format, frame.format.width, frame.format.height);
  pack(frame, nullptr, *picture);
  const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
  if (!codec) throw InvalidArgument("this build of FFmpeg has no encoder for PNG; use another");
  const CodecPtr encoder(non_null(avcodec_alloc_context3(codec)));
  encoder->width = picture->width;
  encoder->height = picture->height;
  encoder->pix_fmt = format;
  encoder->time_base = {1, 1};
  encoder->thread_count = 1;
  check<InternalError>(avcodec_open2(encoder.get(), codec, nullptr), "cannot open FFmpeg's PNG");
  const PacketPtr packet = make_packet();
  check<InternalError>(avcodec_send_frame(encoder.get(), picture.get()), "cannot encode a PNG");
  check<InternalError>(avcodec_send_frame(encoder.get(), nullptr), "cannot encode a PNG");
  check<InternalError>(avcodec_receive_packet(encoder.get(), packet.get()), "cannot encode a PNG");
  return {reinterpret_cast<const char*>(packet->data), static_cast<std::size_t>(packet->size)};
}

void write_png(const std::string& path, const Frame& rgb, bool overwrite, const Access& access) {
  write_text(path, encode_png(rgb), {.overwrite = overwrite, .access = access});
}

}  // namespace lull::io
