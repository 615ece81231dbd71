#include "mlt/picture_filter.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/error.h"
#include "noise/estimate/estimate.h"

namespace lull::mlt {
namespace {

FrameFormat frame_format(mlt_image_format format, int width, int height) {
  FrameFormat result{.width = width, .height = height, .layout = Layout::yuv};
  result.chroma_shift_x = 1;
  result.chroma_shift_y = format == mlt_image_yuv420p ? 1 : 0;
  if (format == mlt_image_yuv422p16) {
    result.bits = 16;
    result.sample = SampleType::u16;
  }
  return result;
}

/// The position of the samples of a plane. Neighbouring samples of a row are `step` bytes apart.
struct Samples {
  std::byte* data;
  std::ptrdiff_t stride, step;
};

/// Returns the planes Y, Cb, Cr of an image. The order of samples in packed 4:2:2 is Y Cb Y Cr.
std::array<Samples, 3> planes_of(mlt_image_format format, int width, int height, void* data) {
  mlt_image_s image{};
  mlt_image_set_values(&image, data, format, width, height);
  const auto plane = [&](int index, std::ptrdiff_t offset, std::ptrdiff_t step) {
    return Samples{reinterpret_cast<std::byte*>(image.planes[index]) + offset, image.strides[index],
                   step};
  };
  if (format == mlt_image_yuv422) return {plane(0, 0, 2), plane(0, 1, 4), plane(0, 3, 4)};
  const std::ptrdiff_t step = format == mlt_image_yuv422p16 ? 2 : 1;
  return {plane(0, 0, step), plane(1, 0, step), plane(2, 0, step)};
}

/// Copies a row between samples of MLT, `step` samples apart, and contiguous samples.
template <bool from_image, class T, int step>
void copy_row(std::byte* image, std::byte* frame, int columns) {
  T* there = reinterpret_cast<T*>(image);
  T* here = reinterpret_cast<T*>(frame);
  for (int x = 0; x < columns; ++x)
    if constexpr (from_image)
      here[x] = there[x * step];
    else
      there[x * step] = here[x];
}

/// Copies a plane between an image of MLT and a frame of lull. In packed images, a row of odd width
/// ends with Y and Cb, without the last Cr sample. The frame repeats the previous Cr
/// sample, or has the grey value 128.
template <bool from_image>
void copy_plane(const Samples& image, int rows, int columns, int bytes, int image_columns,
                PlaneView<std::byte> frame) {
  const auto copy = bytes == 2        ? copy_row<from_image, std::uint16_t, 1>
                    : image.step == 1 ? copy_row<from_image, std::uint8_t, 1>
                    : image.step == 2 ? copy_row<from_image, std::uint8_t, 2>
                                      : copy_row<from_image, std::uint8_t, 4>;
  for (int y = 0; y < rows; ++y) {
    std::byte* row = frame.data + y * frame.stride;
    copy(image.data + y * image.stride, row, image_columns);
    if (from_image && image_columns < columns)
      row[image_columns] = image_columns > 0 ? row[image_columns - 1] : std::byte{128};
  }
}

template <bool from_image>
void copy_image(mlt_image_format format, void* data, const Frame& frame) {
  const auto planes = planes_of(format, frame.format.width, frame.format.height, data);
  for (int i = 0; i < 3; ++i) {
    const int columns = frame.format.plane_width(i);
    const bool lacks_last = format == mlt_image_yuv422 && i == 2 && frame.format.width % 2 != 0;
    copy_plane<from_image>(planes[i], frame.format.plane_height(i), columns,
                           frame.format.bytes_per_sample(), lacks_last ? columns - 1 : columns,
                           frame.planes[i]);
  }
}

bool same(const ClipSettings& a, const ClipSettings& b) {
  return a.method == b.method && a.preset == b.preset && a.profile == b.profile &&
         a.sigma == b.sigma && a.strength == b.strength && a.device == b.device &&
         a.threads == b.threads;
}

}  // namespace

mlt_image_format filtered_format(mlt_image_format requested) {
  return requested == mlt_image_yuv420p || requested == mlt_image_yuv422p16 ? requested
                                                                            : mlt_image_yuv422;
}

void PictureFilter::open(const ClipSettings& settings, const FrameFormat& format) {
  session_.reset();
  pool_.reset();
  ClipSettings still = settings;
  still.temporal = "0";
  choice_ = choose_clip(still);
  pool_.emplace(format);
  settings_ = settings;
  format_ = format;
}

void PictureFilter::filter(const ClipSettings& settings, mlt_image_format format, int width,
                           int height, void* data) {
  const FrameFormat wanted = frame_format(format, width, height);
  if (!pool_ || wanted != format_ || !same(settings, settings_)) open(settings, wanted);
  Frame frame = pool_->acquire();
  copy_image<true>(format, data, frame);
  if (choice_.estimates) {
    const std::vector<Excerpt> excerpts{{frame}};
    const NoiseModel noise = estimate_noise(excerpts).noise;
    choice_.session.noise = choice_.strength == 1 ? noise : scaled(noise, choice_.strength);
    session_.reset();
  }
  if (!session_) session_ = open_chosen(choice_.session, format_).denoiser;
  std::optional<Frame> result = session_->push(std::move(frame));
  while (auto next = session_->drain()) result = std::move(next);
  if (!result) throw InternalError("a session returned no result");
  copy_image<false>(format, data, *result);
}

}  // namespace lull::mlt
