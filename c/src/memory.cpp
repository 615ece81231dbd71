#include "c/src/memory.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "c/src/descriptor.h"
#include "c/src/support.h"
#include "cuda/results/result_frames.h"
#include "cuda/samples/arrays.h"
#include "cuda/samples/foreign_memory.h"

namespace lull::c {
namespace {

std::ptrdiff_t sample_stride(const lull_plane& plane, const FrameFormat& format) {
  return plane.sample_stride != 0 ? plane.sample_stride : format.bytes_per_sample();
}

/// Returns whether a plane can be used in place: its rows are contiguous, aligned samples in
/// ascending order of addresses.
bool has_rows(const lull_plane& plane, const FrameFormat& format, int i) {
  const std::ptrdiff_t sample = format.bytes_per_sample();
  const bool aligned = reinterpret_cast<std::uintptr_t>(plane.data) % sample == 0;
  if (!aligned || (sample_stride(plane, format) != sample && format.plane_width(i) > 1))
    return false;
  if (format.plane_height(i) == 1) return true;
  return plane.row_stride % sample == 0 && plane.row_stride >= sample * format.plane_width(i);
}
bool has_rows(const lull_frame& given, const FrameFormat& format) {
  for (int i = 0; i < format.planes(); ++i)
    if (!has_rows(given.planes[i], format, i)) return false;
  return true;
}

/// Returns the planes of a frame that uses the memory of `given` in place.
template <class Byte>
std::array<PlaneView<Byte>, 3> views_of(const lull_frame& given, const FrameFormat& format) {
  std::array<PlaneView<Byte>, 3> views;
  for (int i = 0; i < format.planes(); ++i) {
    const int row = format.plane_width(i) * format.bytes_per_sample();
    const bool one = format.plane_height(i) == 1;
    views[i] = {static_cast<std::byte*>(given.planes[i].data), row, format.plane_height(i),
                one ? row : given.planes[i].row_stride};
  }
  return views;
}

/// The samples of a plane at any address and with any strides in bytes.
struct Strided {
  std::byte* data;
  std::ptrdiff_t row, sample;
};

void copy_samples(const Strided& from, const Strided& to, int width, int height, int bytes) {
  for (int y = 0; y < height; ++y) {
    const std::byte* source = from.data + y * from.row;
    std::byte* target = to.data + y * to.row;
    if (from.sample == bytes && to.sample == bytes) {
      std::memcpy(target, source, static_cast<std::size_t>(bytes) * width);
      continue;
    }
    for (int x = 0; x < width; ++x)
      std::memcpy(target + x * to.sample, source + x * from.sample, bytes);
  }
}

Strided strided(const lull_plane& plane, const FrameFormat& format) {
  return {static_cast<std::byte*>(plane.data), plane.row_stride, sample_stride(plane, format)};
}
Strided strided(const PlaneView<std::byte>& plane, const FrameFormat& format) {
  return {plane.data, plane.stride, format.bytes_per_sample()};
}

enum class Direction { from_program, to_program };

void copy_planes(const Frame& frame, const lull_frame& memory, Direction direction) {
  const FrameFormat& format = frame.format;
  for (int i = 0; i < format.planes(); ++i) {
    const Strided own = strided(frame.planes[i], format);
    const Strided program = strided(memory.planes[i], format);
    const bool reads = direction == Direction::from_program;
    copy_samples(reads ? program : own, reads ? own : program, format.plane_width(i),
                 format.plane_height(i), format.bytes_per_sample());
  }
}

/// Returns planes in the memory of a GPU as an array whose elements are samples of `format`.
template <class Plane>
cuda::ArrayPicture array_of(const std::array<Plane, 3>& planes, const FrameFormat& format,
                            int device) {
  cuda::ArrayPicture array{.device = device,
                           .type = format.sample == SampleType::u8    ? cuda::NumberType::u8
                                   : format.sample == SampleType::u16 ? cuda::NumberType::u16
                                                                      : cuda::NumberType::f32};
  for (int i = 0; i < format.planes(); ++i) {
    const Strided plane = strided(planes[i], format);
    array.planes[i] = {plane.data, plane.row, plane.sample};
  }
  return array;
}
cuda::ArrayPicture array_of(const lull_frame& given, const FrameFormat& format) {
  return array_of(std::to_array(given.planes), format, given.device);
}

/// Copies all planes of a frame in host or GPU memory to another frame of the same format. Both
/// frames come from pools.
void copy_between(const Frame& from, const Frame& to, int device) {
  const int last = from.format.planes() - 1;
  const PlaneView<std::byte>& plane = from.planes[last];
  const std::ptrdiff_t bytes = plane.data + plane.height * plane.stride - from.planes[0].data;
  cuda::copy_bytes(to.planes[0].data, from.planes[0].data, static_cast<std::size_t>(bytes), device);
}

/// Returns the bytes that a plane uses before and after its first sample.
std::pair<std::int64_t, std::int64_t> extent(const lull_plane& plane, const FrameFormat& format,
                                             int i) {
  std::int64_t before = 0, after = format.bytes_per_sample();
  const auto add = [&](std::ptrdiff_t stride, int count) {
    std::int64_t reach = 0, sum = 0;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(stride), count - 1, &reach) ||
        __builtin_add_overflow(reach < 0 ? before : after, reach, &sum))
      throw InvalidArgument("a stride of " + std::to_string(stride) +
                            " bytes (it exceeds the memory); pass another");
    (reach < 0 ? before : after) = sum;
  };
  add(sample_stride(plane, format), format.plane_width(i));
  add(plane.row_stride, format.plane_height(i));
  return {before, after};
}

/// Checks that the planes of a frame are within `bytes` of memory behind a descriptor.
void check_within(const lull_frame& given, const FrameFormat& format, std::size_t bytes) {
  for (int i = 0; i < format.planes(); ++i) {
    const auto offset = reinterpret_cast<std::intptr_t>(given.planes[i].data);
    const auto [before, after] = extent(given.planes[i], format, i);
    std::int64_t end = 0;
    if (offset < 0 || offset + before < 0 || __builtin_add_overflow(offset, after, &end) ||
        static_cast<std::uint64_t>(end) > bytes)
      throw InvalidArgument("plane " + std::to_string(i) + " at " + std::to_string(offset) +
                            " (it exceeds the " + std::to_string(bytes) +
                            " bytes behind the descriptor); pass another offset or stride");
  }
}

/// Returns the frame with addresses instead of offsets.
lull_frame at_address(const lull_frame& given, const FrameFormat& format, std::byte* base) {
  lull_frame frame = given;
  for (int i = 0; i < format.planes(); ++i)
    frame.planes[i].data = base + reinterpret_cast<std::intptr_t>(given.planes[i].data);
  return frame;
}

/// Keeps both the program's memory and a mapping of it.
struct KeptMapping {
  std::shared_ptr<void> owner;
  std::shared_ptr<std::byte> mapping;
};

}  // namespace

int number_of(const lull_frame& given) {
  if (given.is_numbered != 0 && given.is_numbered != 1)
    throw InvalidArgument("frame->is_numbered = " + std::to_string(given.is_numbered) +
                          " (must be 0 or 1); choose one of these");
  if (given.is_numbered == 0) return -1;
  constexpr std::int64_t greatest = 1 << 30;
  if (given.number < 0 || given.number > greatest)
    throw InvalidArgument("frame->number = " + std::to_string(given.number) +
                          " (must be from 0 to 2^30); pass another");
  return static_cast<int>(given.number);
}

void ProgramMemory::check(const lull_frame& given, const char* what) const {
  const std::string name = std::string(what) + "->";
  if (given.memory < LULL_HOST || given.memory > LULL_DMA_BUF)
    throw InvalidArgument(name + "memory = " + std::to_string(given.memory) +
                          " (must be LULL_HOST, LULL_CUDA or LULL_DMA_BUF); choose one of these");
  if (given.memory == LULL_CUDA && given.device < 0)
    throw InvalidArgument(name + "device = " + std::to_string(given.device) +
                          " (must be the number of a GPU, from 0); pass another");
  for (int i = 0; i < format_.planes(); ++i) {
    const lull_plane& plane = given.planes[i];
    if (plane.data == nullptr && given.memory != LULL_DMA_BUF)
      throw InvalidArgument(name + "planes[" + std::to_string(i) +
                            "].data = NULL (frames of this format have " +
                            std::to_string(format_.planes()) + " planes); pass its address");
    (void)extent(plane, format_, i);
    const bool rows_overlap =
        std::abs(plane.row_stride) < format_.bytes_per_sample() && format_.plane_height(i) > 1;
    if (rows_overlap || std::abs(sample_stride(plane, format_)) < format_.bytes_per_sample())
      throw InvalidArgument(name + "planes[" + std::to_string(i) + "] with strides of " +
                            std::to_string(plane.row_stride) + " and " +
                            std::to_string(plane.sample_stride) +
                            " bytes (samples would overlap); pass the distances in bytes");
  }
  if (given.memory == LULL_DMA_BUF) check_within(given, format_, size_of_descriptor(given.fd));
}

FramePool& ProgramMemory::pool_on(int device) {
  return pools_.try_emplace(device, format_, cuda::device_memory(device)).first->second;
}

Frame ProgramMemory::host_frame(const lull_frame& given, std::shared_ptr<void> owner, bool keeps) {
  if (!keeps || !has_rows(given, format_)) {
    Frame frame = host_.acquire();
    copy_planes(frame, given, Direction::from_program);
    return frame;
  }
  Frame frame;
  frame.format = format_;
  frame.planes = views_of<std::byte>(given, format_);
  frame.pixels = std::shared_ptr<std::byte[]>(std::move(owner), frame.planes[0].data);
  return frame;
}

Frame ProgramMemory::cuda_frame(const lull_frame& given, std::shared_ptr<void> owner, bool keeps) {
  cuda::wait_for_stream(given.stream, given.device);
  if (keeps && gpu_ && has_rows(given, format_)) {
    struct KeptPicture {
      DevicePicture picture;
      std::shared_ptr<void> owner;
    };
    auto kept = std::make_shared<KeptPicture>();
    kept->picture.device = given.device;
    kept->picture.planes = views_of<const std::byte>(given, format_);
    kept->owner = std::move(owner);
    Frame frame;
    frame.format = format_;
    frame.on_device = {kept, &kept->picture};
    return frame;
  }
  Frame copy = pool_on(given.device).acquire();
  cuda::array_to_samples(array_of(given, format_), format_, copy.planes);
  if (gpu_) return cuda::publish_frame(cuda::on_device(std::move(copy), given.device));
  Frame frame = host_.acquire();
  copy_between(copy, frame, given.device);
  return frame;
}

Frame ProgramMemory::frame_of(const lull_frame& given, const std::shared_ptr<FrameOwner>& owner) {
  check(given, "frame");
  const bool keeps = owner->keeps();
  if (given.memory == LULL_HOST) return host_frame(given, owner, keeps);
  if (given.memory == LULL_CUDA) return cuda_frame(given, owner, keeps);
  const std::size_t bytes = size_of_descriptor(given.fd);
  if (gpu_)
    if (auto imported = cuda::import_dma_buf(given.fd, bytes, *gpu_)) {
      lull_frame frame = at_address(given, format_, imported.get());
      frame.device = *gpu_;
      frame.stream = nullptr;
      return cuda_frame(frame, std::make_shared<KeptMapping>(owner, imported), keeps);
    }
  const auto mapping = map_descriptor(given.fd, bytes, MapUse::read);
  return host_frame(at_address(given, format_, mapping.get()),
                    std::make_shared<KeptMapping>(owner, mapping), keeps);
}

Frame ProgramMemory::on_host(const Frame& result) {
  if (!result.on_device) return result;
  const int device = result.on_device->device;
  const Frame dense = pool_on(device).acquire();
  cuda::samples_to_array(*result.on_device, format_, {}, array_of(dense.planes, format_, device));
  Frame frame = host_.acquire();
  copy_between(dense, frame, device);
  return frame;
}

void ProgramMemory::store_on_gpu(const Frame& result, const lull_frame& to) {
  cuda::wait_for_stream(to.stream, to.device);
  if (result.on_device && result.on_device->device == to.device)
    return cuda::samples_to_array(*result.on_device, format_, {}, array_of(to, format_));
  const Frame source = on_host(result), host = host_.acquire();
  for (int i = 0; i < format_.planes(); ++i)
    copy_samples(strided(source.planes[i], format_), strided(host.planes[i], format_),
                 format_.plane_width(i), format_.plane_height(i), format_.bytes_per_sample());
  const Frame dense = pool_on(to.device).acquire();
  copy_between(host, dense, to.device);
  DevicePicture picture{.device = to.device};
  for (std::size_t i = 0; i < picture.planes.size(); ++i) picture.planes[i] = dense.planes[i];
  cuda::samples_to_array(picture, format_, {}, array_of(to, format_));
}

void ProgramMemory::store(const Frame& result, const lull_frame& to) {
  if (to.memory == LULL_CUDA) return store_on_gpu(result, to);
  if (to.memory == LULL_HOST) return copy_planes(on_host(result), to, Direction::to_program);
  const auto mapping = map_descriptor(to.fd, size_of_descriptor(to.fd), MapUse::write);
  copy_planes(on_host(result), at_address(to, format_, mapping.get()), Direction::to_program);
}

}  // namespace lull::c
