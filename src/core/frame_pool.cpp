#include "core/frame_pool.h"

#include <mutex>
#include <vector>

#include "core/round_up.h"
#include "core/validate_format.h"

namespace lull {
namespace {
constexpr std::size_t row_alignment = 64;
// Number of readable bytes after the last row of a buffer. The SIMD code of encoders reads full
// vectors, beyond the end of a row.
constexpr std::size_t padding = 64;
}  // namespace

// The free buffers of a pool. The pool and its frames share the ownership of this object, so that
// frames may outlive the pool.
struct FramePool::Shelf {
  std::pmr::memory_resource* memory;
  std::size_t bytes;
  std::mutex mutex;
  std::vector<std::byte*> free;

  Shelf(std::pmr::memory_resource* m, std::size_t b) : memory(m), bytes(b) {}
  ~Shelf() {
    for (std::byte* buffer : free) memory->deallocate(buffer, bytes, row_alignment);
  }
  std::byte* take() {
    {
      const std::lock_guard lock(mutex);
      if (!free.empty()) {
        std::byte* buffer = free.back();
        free.pop_back();
        return buffer;
      }
      free.reserve(free.capacity() + 1);  // reserves capacity, so that give_back() cannot throw
    }
    return static_cast<std::byte*>(memory->allocate(bytes, row_alignment));
  }
  void give_back(std::byte* buffer) noexcept {
    const std::lock_guard lock(mutex);
    free.push_back(buffer);
  }
};

FramePool::FramePool(const FrameFormat& format, std::pmr::memory_resource* memory)
    : format_(format) {
  validate(format);
  std::size_t bytes = 0;
  for (int i = 0; i < format.planes(); ++i) {
    const std::size_t row =
        static_cast<std::size_t>(format.plane_width(i)) * format.bytes_per_sample();
    const std::size_t stride = round_up(row, row_alignment);
    stride_[i] = static_cast<std::ptrdiff_t>(stride);
    offset_[i] = bytes;
    bytes += stride * format.plane_height(i);
  }
  shelf_ = std::make_shared<Shelf>(memory, bytes + padding);
}

Frame FramePool::acquire() {
  Frame frame;
  frame.format = format_;
  frame.pixels = std::shared_ptr<std::byte[]>(
      shelf_->take(), [shelf = shelf_](std::byte* buffer) { shelf->give_back(buffer); });
  for (int i = 0; i < format_.planes(); ++i)
    frame.planes[i] = {frame.pixels.get() + offset_[i],
                       format_.plane_width(i) * format_.bytes_per_sample(), format_.plane_height(i),
                       stride_[i]};
  return frame;
}

void FramePool::reserve(int frames) {
  std::vector<Frame> all;
  for (int i = 0; i < frames; ++i) all.push_back(acquire());
}

}  // namespace lull
