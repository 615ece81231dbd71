#include "gstreamer/formats.h"

#include <cstddef>
#include <cstdint>

#include "core/error.h"

namespace lull::gstreamer {
namespace {

/// Where the samples of a component are. GStreamer counts strides and steps in bytes.
struct Component {
  Component(const GstVideoFrame& frame, int i)
      : stride(GST_VIDEO_FRAME_COMP_STRIDE(&frame, i)),
        step(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, i)),
        shift(static_cast<int>(GST_VIDEO_FORMAT_INFO_SHIFT(frame.info.finfo, i))) {
    const guint plane = GST_VIDEO_FORMAT_INFO_PLANE(frame.info.finfo, i);
    data = static_cast<std::byte*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
    // Cr follows Cb in pairs. The offset that GStreamer 1.22 states for Cr in P010 and similar
    // formats counts samples, not bytes.
    if (i == 2 && plane == GST_VIDEO_FORMAT_INFO_PLANE(frame.info.finfo, 1)) data += step / 2;
  }

  std::byte* data;
  std::ptrdiff_t stride;
  int step;   // from a sample to the next one
  int shift;  // unused low bits below the value of a sample
};

/// Copies a row of samples between places `from_step` and `to_step` samples apart.
template <class T, int from_step, int to_step, class Shift>
void copy_row(const std::byte* from, std::byte* to, int width, Shift shifted) {
  const T* source = reinterpret_cast<const T*>(from);
  T* target = reinterpret_cast<T*>(to);
  for (int x = 0; x < width; ++x)
    target[x * to_step] = static_cast<T>(shifted(source[x * from_step]));
}

/// Copies a row of a component into contiguous samples.
template <class T>
void load_row(const Component& from, int y, std::byte* to, int width) {
  const std::byte* row = from.data + y * from.stride;
  const auto shifted = [shift = from.shift](int sample) { return sample >> shift; };
  if (from.step == static_cast<int>(sizeof(T)))
    copy_row<T, 1, 1>(row, to, width, shifted);
  else
    copy_row<T, 2, 1>(row, to, width, shifted);
}

/// Copies contiguous samples into a row of a component.
template <class T>
void store_row(const std::byte* from, const Component& to, int y, int width) {
  std::byte* row = to.data + y * to.stride;
  const auto shifted = [shift = to.shift](int sample) { return sample << shift; };
  if (to.step == static_cast<int>(sizeof(T)))
    copy_row<T, 1, 1>(from, row, width, shifted);
  else
    copy_row<T, 1, 2>(from, row, width, shifted);
}

}  // namespace

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
  const auto load =
      to.format.sample == SampleType::u8 ? load_row<std::uint8_t> : load_row<std::uint16_t>;
  for (int i = 0; i < to.format.planes(); ++i) {
    const Component source(from, i);
    for (int y = 0; y < to.format.plane_height(i); ++y)
      load(source, y, to.planes[i].data + y * to.planes[i].stride, to.format.plane_width(i));
  }
}

void copy_samples(const Frame& from, GstVideoFrame& to) {
  const auto store =
      from.format.sample == SampleType::u8 ? store_row<std::uint8_t> : store_row<std::uint16_t>;
  for (int i = 0; i < from.format.planes(); ++i) {
    const Component target(to, i);
    for (int y = 0; y < from.format.plane_height(i); ++y)
      store(from.planes[i].data + y * from.planes[i].stride, target, y, from.format.plane_width(i));
  }
}

}  // namespace lull::gstreamer
