#pragma once
// Copies planes between pageable host memory and a device. Several threads copy each plane, whereas
// the CUDA driver would use a single thread.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "core/image.h"

namespace lull::cuda {

/// Returns a view of the samples of a plane as bytes.
template <class T>
[[nodiscard]] auto bytes_of(PlaneView<T> plane) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  constexpr int size = sizeof(T);
  return PlaneView<Byte>(reinterpret_cast<Byte*>(plane.data), plane.width * size, plane.height,
                         plane.stride * size);
}

/// Copies planes through two page-locked buffers of a few megabytes, which the first copy
/// allocates. The object copies small planes and planes in page-locked memory directly. Only one
/// thread at a time may use the object, and all its streams must belong to one device. No thread
/// may use the object while CUDA captures a stream.
class Staging {
 public:
  Staging();
  /// Waits for incomplete copies.
  ~Staging();
  Staging(Staging&&) noexcept;
  Staging& operator=(Staging&&) noexcept;

  /// Queues the upload of a plane, with a row pitch of `pitch` bytes on the device. The caller must
  /// not change page-locked memory until the upload is complete. The caller may change pageable
  /// memory after the call.
  void upload(PlaneView<const std::byte> from, void* to, std::size_t pitch, cudaStream_t stream);
  /// Downloads a plane. If `to` is in page-locked memory, the function only queues the download. If
  /// `to` is in other memory, the download is complete when the function returns.
  void download(const void* from, std::size_t pitch, PlaneView<std::byte> to, cudaStream_t stream);

 private:
  class Buffers;

  bool needs_staging(const void* host, std::size_t row, int rows);

  std::unique_ptr<Buffers> buffers_;
  bool allocation_failed_ = false;
};

}  // namespace lull::cuda
