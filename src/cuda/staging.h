#pragma once
// Planes between the host's ordinary memory and a device. The driver copies such memory with one
// thread, in which the caller waits; here several copy to and from page-locked buffers.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "core/image.h"

namespace lull::cuda {

/// The bytes of a plane's samples.
template <class T>
[[nodiscard]] auto bytes_of(PlaneView<T> plane) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  constexpr int size = sizeof(T);
  return PlaneView<Byte>(reinterpret_cast<Byte*>(plane.data), plane.width * size, plane.height,
                         plane.stride * size);
}

/// Two page-locked buffers of a few megabytes, whatever the planes' size, made when first needed
/// (without memory for them the driver copies). Small planes, and memory that is page-locked, go
/// without. Used by one thread at a time, with streams of one device, and not while a stream is
/// captured.
class Staging {
 public:
  Staging();
  /// Waits for copies in flight.
  ~Staging();
  Staging(Staging&&) noexcept;
  Staging& operator=(Staging&&) noexcept;

  /// Queues: a plane to the device, where its rows lie `pitch` bytes apart. One in page-locked
  /// memory must stay until that is done; any other may change as soon as this returns.
  void upload(PlaneView<const std::byte> from, void* to, std::size_t pitch, cudaStream_t stream);
  /// The way back. To page-locked memory it is queued; to any other it is done on return.
  void download(const void* from, std::size_t pitch, PlaneView<std::byte> to, cudaStream_t stream);

 private:
  class Buffers;

  bool goes_through_buffers(const void* host, std::size_t row, int rows);

  std::unique_ptr<Buffers> buffers_;
  bool has_no_memory_ = false;
};

}  // namespace lull::cuda
