#pragma once
// Buffers for frames of one format, used again and again: nothing is allocated per frame.

#include <memory>
#include <memory_resource>

#include "core/frame.h"

namespace lull {

/// Hands out frames; a frame's buffer comes back by itself when the last reference to its pixels
/// goes, also after the pool itself. Grows on demand, so the bound on frames in flight is the
/// caller's. Safe to use from several threads.
class FramePool {
 public:
  /// `memory` provides the buffers (page-locked memory for a GPU, say) and must outlive them.
  explicit FramePool(const FrameFormat& format,
                     std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  /// A frame with planes laid out one after the other, rows at multiples of 64 bytes, samples not
  /// initialised. @throws std::bad_alloc
  [[nodiscard]] Frame acquire();
  /// Has buffers for so many frames from now on, where memory is slow to get. @throws
  /// std::bad_alloc
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
