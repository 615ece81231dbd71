#pragma once
// Copies planes between pageable host memory and a device. The driver copies pageable memory with a
// single thread, while the caller waits. The class Staging instead copies through page-locked
// buffers with several threads.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "core/image.h"

namespace lull::cuda {

/// Returns a view of the bytes of a plane's samples.
template <class T>
[[nodiscard]] auto bytes_of(PlaneView<T> plane) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  constexpr int size = sizeof(T);
  return PlaneView<Byte>(reinterpret_cast<Byte*>(plane.data), plane.width * size, plane.height,
                         plane.stride * size);
}

/// Copies planes through two page-locked buffers of a few megabytes, which the first copy
/// allocates. The driver copies planes directly if they are small or in page-locked memory, or if
/// the buffers cannot be allocated. One thread at a time may use a Staging, with streams of one
/// device, and not during the capture of a stream.
class Staging {
 public:
  Staging();
  /// Waits for copies in flight.
  ~Staging();
  Staging(Staging&&) noexcept;
  Staging& operator=(Staging&&) noexcept;

  /// Queues the upload of a plane, whose rows are `pitch` bytes apart on the device. A plane in
  /// page-locked memory must not change until the upload is complete. A plane in other memory may
  /// change as soon as the function returns.
  void upload(PlaneView<const std::byte> from, void* to, std::size_t pitch, cudaStream_t stream);
  /// Downloads a plane. If the destination is page-locked memory, the function only queues the
  /// download. If not, the download is complete when the function returns.
  void download(const void* from, std::size_t pitch, PlaneView<std::byte> to, cudaStream_t stream);

 private:
  class Buffers;

  bool needs_staging(const void* host, std::size_t row, int rows);

  std::unique_ptr<Buffers> buffers_;
  bool allocation_failed_ = false;
};

}  // namespace lull::cuda
