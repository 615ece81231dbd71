#pragma once
// A plane in host memory that owns its samples.

#include <cstddef>
#include <new>
#include <utility>

#include "core/image.h"
#include "core/round_up.h"

namespace lull {

/// A plane that owns its samples. Rows start at multiples of 64 bytes, so SIMD loads at the start
/// of a row are aligned. The samples have undefined values.
template <class T>
class Plane {
 public:
  Plane() = default;
  Plane(int width, int height)
      : width_(width), height_(height), stride_(round_up(width, per_line)) {
    const std::size_t samples = static_cast<std::size_t>(stride_) * height;
    data_ = static_cast<T*>(::operator new(samples * sizeof(T), alignment));
  }
  Plane(Plane&& other) noexcept { swap(other); }
  Plane& operator=(Plane&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Plane() { ::operator delete(data_, alignment); }

  PlaneView<T> view() { return {data_, width_, height_, stride_}; }
  PlaneView<const T> view() const { return {data_, width_, height_, stride_}; }
  int width() const { return width_; }
  int height() const { return height_; }

 private:
  static constexpr std::align_val_t alignment{64};
  static constexpr int per_line = 64 / sizeof(T);

  void swap(Plane& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(width_, other.width_);
    std::swap(height_, other.height_);
    std::swap(stride_, other.stride_);
  }

  T* data_ = nullptr;
  int width_ = 0, height_ = 0;
  std::ptrdiff_t stride_ = 0;
};

}  // namespace lull
