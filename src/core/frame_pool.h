#pragma once
// Reuses buffers for frames of one format, to avoid an allocation for each frame.

#include <memory>
#include <memory_resource>

#include "core/frame.h"

namespace lull {

/// A pool of frame buffers, for use by several threads. A buffer returns to the pool when the
/// program releases the last reference to its pixels. If all buffers are in use, the pool makes a
/// new one, so the caller must limit the number of frames in use. Frames may outlive the pool.
class FramePool {
 public:
  /// Makes a pool whose buffers come from `memory`, for example from page-locked memory for a GPU.
  /// `memory` must outlive all buffers.
  /// @throws InvalidArgument  the format is not valid
  explicit FramePool(const FrameFormat& format,
                     std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  /// Returns a frame whose planes are contiguous in one buffer. The rows of a plane start at
  /// multiples of 64 bytes. The samples have undefined values.
  /// @throws std::bad_alloc
  [[nodiscard]] Frame acquire();
  /// Allocates the buffers of `frames` frames in advance. This avoids later delays if allocations
  /// are slow, as they are for page-locked memory.
  /// @throws std::bad_alloc
  void reserve(int frames);
  const FrameFormat& format() const noexcept { return format_; }

 private:
  struct Shelf;
  FrameFormat format_;
  std::array<std::ptrdiff_t, 3> stride_{};
  std::array<std::size_t, 3> offset_{};
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace lull
