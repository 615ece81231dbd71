#include "gstreamer/formats.h"

#include <cstddef>
#include <cstring>

#include "core/error.h"

namespace lull::gstreamer {
namespace {

/// Copies the rows of a component. GStreamer counts strides in bytes.
void copy_component(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to,
                    std::ptrdiff_t to_stride, std::size_t bytes, int rows) {
  for (int y = 0; y < rows; ++y) std::memcpy(to + y * to_stride, from + y * from_stride, bytes);
}

std::size_t row_bytes(const FrameFormat& format, int plane) {
  return static_cast<std::size_t>(format.plane_width(plane)) *
         static_cast<std::size_t>(format.bytes_per_sample());
}

std::byte* component(const GstVideoFrame& frame, int plane) {
  return reinterpret_cast<std::byte*>(GST_VIDEO_FRAME_COMP_DATA(&frame, plane));
}

}  // namespace

std::string caps_text() {
  // GStreamer has no macro for the native byte order in the names of formats with a number of bits.
  const char* const order = G_BYTE_ORDER == G_LITTLE_ENDIAN ? "LE" : "BE";
  std::string formats = std::string("GRAY8, GRAY16_") + order + ", I420, Y42B, Y444, GBR";
  for (const char* deep :
       {"I420_10", "I422_10", "Y444_10", "GBR_10", "I420_12", "I422_12", "Y444_12", "GBR_12"})
    formats += std::string(", ") + deep + order;
  return "video/x-raw, format=(string){ " + formats +
         " }, width=(int)[1, max], height=(int)[1, max], framerate=(fraction)[0, max]";
}

FrameFormat format_of(const GstVideoInfo& info) {
  if (GST_VIDEO_INFO_IS_INTERLACED(&info))
    throw InvalidArgument(
        "interlaced video (its fields show different times); put deinterlace before lulldenoise");
  FrameFormat format{.width = GST_VIDEO_INFO_WIDTH(&info), .height = GST_VIDEO_INFO_HEIGHT(&info)};
  const GstVideoFormatInfo& samples = *info.finfo;
  format.layout = GST_VIDEO_FORMAT_INFO_IS_GRAY(&samples)  ? Layout::gray
                  : GST_VIDEO_FORMAT_INFO_IS_RGB(&samples) ? Layout::rgb
                                                           : Layout::yuv;
  format.bits = static_cast<int>(GST_VIDEO_FORMAT_INFO_DEPTH(&samples, 0));
  format.sample = format.bits == 8 ? SampleType::u8 : SampleType::u16;
  if (format.layout == Layout::yuv) {
    format.chroma_shift_x = static_cast<int>(GST_VIDEO_FORMAT_INFO_W_SUB(&samples, 1));
    format.chroma_shift_y = static_cast<int>(GST_VIDEO_FORMAT_INFO_H_SUB(&samples, 1));
  }
  return format;
}

void copy_samples(const GstVideoFrame& from, Frame& to) {
  for (int i = 0; i < to.format.planes(); ++i)
    copy_component(component(from, i), GST_VIDEO_FRAME_COMP_STRIDE(&from, i), to.planes[i].data,
                   to.planes[i].stride, row_bytes(to.format, i), to.format.plane_height(i));
}

void copy_samples(const Frame& from, GstVideoFrame& to) {
  for (int i = 0; i < from.format.planes(); ++i)
    copy_component(from.planes[i].data, from.planes[i].stride, component(to, i),
                   GST_VIDEO_FRAME_COMP_STRIDE(&to, i), row_bytes(from.format, i),
                   from.format.plane_height(i));
}

}  // namespace lull::gstreamer
