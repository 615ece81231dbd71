#include "python/src/planes.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "core/error.h"
#include "cuda/results/result_frames.h"

namespace nb = nanobind;

namespace lull::python {
namespace {

nb::dlpack::dtype dtype_of(SampleType sample) {
  return sample == SampleType::u8    ? nb::dtype<std::uint8_t>()
         : sample == SampleType::u16 ? nb::dtype<std::uint16_t>()
                                     : nb::dtype<float>();
}

template <class Array>
void check_plane(const Array& plane, const FrameFormat& format, int i) {
  if (plane.dtype() != dtype_of(format.sample))
    throw InvalidArgument("the samples do not have the session's type; convert them first");
  const auto width = static_cast<std::size_t>(format.plane_width(i));
  const auto height = static_cast<std::size_t>(format.plane_height(i));
  if (plane.shape(0) != height || plane.shape(1) != width)
    throw InvalidArgument("a plane of " + std::to_string(plane.shape(0)) + "x" +
                          std::to_string(plane.shape(1)) + " samples (the session's planes have " +
                          std::to_string(height) + "x" + std::to_string(width) +
                          "); open another session");
}

/// Returns whether a plane has contiguous rows with ascending addresses.
bool has_rows(const Samples& plane) {
  const auto width = static_cast<std::int64_t>(plane.shape(1));
  return (plane.stride(1) == 1 || width == 1) && (plane.shape(0) == 1 || plane.stride(0) >= width);
}

/// Copies rows of samples. All strides are in samples.
template <class T>
void copy_rows(const T* from, std::int64_t from_row, std::int64_t from_sample, T* to,
               std::int64_t to_row, std::int64_t to_sample, int width, int height) {
  for (int y = 0; y < height; ++y, from += from_row, to += to_row) {
    if (from_sample == 1 && to_sample == 1) {
      std::memcpy(to, from, sizeof(T) * static_cast<std::size_t>(width));
      continue;
    }
    for (int x = 0; x < width; ++x) to[x * to_sample] = from[x * from_sample];
  }
}

template <class T>
void fill_plane(const Samples& plane, PlaneView<T> to) {
  copy_rows(static_cast<const T*>(plane.data()), plane.stride(0), plane.stride(1), to.data,
            to.stride, 1, to.width, to.height);
}

template <class T>
void read_plane(PlaneView<T> from, const WritableSamples& plane) {
  copy_rows<T>(from.data, from.stride, 1, static_cast<T*>(plane.data()), plane.stride(0),
               plane.stride(1), from.width, from.height);
}

/// Calls `work` with the value 0 in the sample type of the format, so that `work` can deduce the
/// type.
template <class Work>
void with_sample(const FrameFormat& format, Work work) {
  if (format.sample == SampleType::u8) return work(std::uint8_t{});
  if (format.sample == SampleType::u16) return work(std::uint16_t{});
  work(float{});
}

/// Returns a frame that shares the memory of the planes. The rows need no padding, because a
/// session reads only the samples.
Frame sharing(const Image& planes, const FrameFormat& format) {
  Frame frame;
  frame.format = format;
  auto arrays = std::make_shared<Image>(planes);
  auto* begin = static_cast<std::byte*>(const_cast<void*>(planes[0].data()));
  frame.pixels = std::shared_ptr<std::byte[]>(std::move(arrays), begin);
  for (int i = 0; i < format.planes(); ++i) {
    const int row = format.plane_width(i) * format.bytes_per_sample();
    const bool one = planes[i].shape(0) == 1;
    frame.planes[i] = {static_cast<std::byte*>(const_cast<void*>(planes[i].data())), row,
                       format.plane_height(i),
                       one ? row : planes[i].stride(0) * format.bytes_per_sample()};
  }
  return frame;
}

void check_count(std::size_t planes, const FrameFormat& format) {
  if (planes != static_cast<std::size_t>(format.planes()))
    throw InvalidArgument(std::to_string(planes) + " planes (the session's frames have " +
                          std::to_string(format.planes()) + "); open another session");
}

void check_image(const cuda::ArrayPicture& image, const FrameFormat& format) {
  check_count(
      static_cast<std::size_t>(std::ranges::count_if(
          image.planes, [](const cuda::ArrayPlane& plane) { return plane.data != nullptr; })),
      format);
}

/// Returns whether an image in GPU memory has contiguous rows with ascending addresses.
bool has_rows(const cuda::ArrayPicture& image, const FrameFormat& format) {
  for (int i = 0; i < format.planes(); ++i) {
    const cuda::ArrayPlane& plane = image.planes[i];
    const int sample = format.bytes_per_sample(), width = format.plane_width(i);
    if (plane.number != sample && width > 1) return false;
    if (plane.row < sample * width && format.plane_height(i) > 1) return false;
  }
  return true;
}

/// Returns a frame that shares the GPU memory of the image.
Frame device_frame(const cuda::ArrayPicture& image, const FrameFormat& format) {
  auto picture = std::make_shared<DevicePicture>();
  picture->device = image.device;
  for (int i = 0; i < format.planes(); ++i) {
    const int row = format.plane_width(i) * format.bytes_per_sample();
    const bool one = format.plane_height(i) == 1;
    picture->planes[i] = {image.planes[i].data, row, format.plane_height(i),
                          one ? row : image.planes[i].row};
  }
  Frame frame;
  frame.format = format;
  frame.on_device = std::move(picture);
  return frame;
}

cuda::NumberType number_type(const std::string& typestr) {
  using enum cuda::NumberType;
  static const std::map<std::string, cuda::NumberType> types{
      {"u1", u8},  {"i1", i8},  {"u2", u16}, {"i2", i16}, {"u4", u32}, {"i4", i32},
      {"u8", u64}, {"i8", i64}, {"f2", f16}, {"f4", f32}, {"f8", f64}};
  const auto found = types.find(typestr.substr(std::min<std::size_t>(1, typestr.size())));
  if (found == types.end() || typestr[0] == '>')
    throw InvalidArgument("numbers of type '" + typestr + "' on a GPU (must be for example '<f4')");
  return found->second;
}

}  // namespace

void check_planes(const Image& planes, const FrameFormat& format) {
  check_count(planes.size(), format);
  for (int i = 0; i < format.planes(); ++i) check_plane(planes[i], format, i);
  for (const Samples& plane : planes)
    if (plane.device_type() != nb::device::cpu::value)
      throw InvalidArgument("the samples are in GPU memory; copy them to host memory first");
}

Frame frame_of(const Image& planes, FramePool& pool, bool copy) {
  const FrameFormat& format = pool.format();
  bool shared = !copy;
  for (const Samples& plane : planes) shared = shared && has_rows(plane);
  if (shared) return sharing(planes, format);
  Frame frame = pool.acquire();
  for (int i = 0; i < format.planes(); ++i)
    with_sample(format, [&]<class T>(T) { fill_plane<T>(planes[i], frame.plane<T>(i)); });
  return frame;
}

void Result::copy_to(const std::vector<WritableSamples>& planes) const {
  const FrameFormat& format = frame_.format;
  check_count(planes.size(), format);
  if (frame_.on_device)
    throw InvalidArgument("the result is in GPU memory (it has no planes in host memory)");
  for (int i = 0; i < format.planes(); ++i) check_plane(planes[i], format, i);
  for (int i = 0; i < format.planes(); ++i)
    with_sample(format, [&]<class T>(T) { read_plane<T>(frame_.plane<T>(i), planes[i]); });
}

cuda::ArrayPicture device_image(int device, const std::string& typestr, double low, double span,
                                const std::vector<DevicePlane>& planes) {
  cuda::ArrayPicture image{
      .device = device, .type = number_type(typestr), .low = low, .span = span, .planes = {}};
  if (planes.size() > image.planes.size())
    throw InvalidArgument(std::to_string(planes.size()) + " planes (a frame has one or three)");
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const auto& [address, row, number] = planes[i];
    image.planes[i] = {reinterpret_cast<std::byte*>(address), row, number};
  }
  return image;
}

Frame DeviceFrames::frame_of(const cuda::ArrayPicture& image, bool copy) {
  check_image(image, format_);
  if (!copy && image.has_samples(format_.sample) && has_rows(image, format_))
    return device_frame(image, format_);
  const auto pool =
      pools_.try_emplace(image.device, format_, cuda::device_memory(image.device)).first;
  Frame frame = cuda::on_device(pool->second.acquire(), image.device);
  cuda::array_to_samples(image, format_, frame.planes);
  return cuda::publish_frame(std::move(frame));
}

void Result::copy_to_device(const cuda::ArrayPicture& to,
                            const cuda::ArrayPicture& original) const {
  if (!frame_.on_device)
    throw InvalidArgument("the result is in host memory (it has no planes on a GPU)");
  check_image(to, frame_.format);
  check_image(original, frame_.format);
  cuda::samples_to_array(*frame_.on_device, frame_.format, original, to);
}

}  // namespace lull::python
