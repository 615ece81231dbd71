#pragma once
// A view of a plane: the location of its samples. A view does not own the samples.

#include <concepts>
#include <cstddef>

namespace lull {

/// A view of a rectangle of samples, for host code and device code. `stride` is the distance from
/// the start of a row to the start of the next row, in samples.
template <class T>
struct PlaneView {
  T* data = nullptr;
  int width = 0, height = 0;  // samples
  std::ptrdiff_t stride = 0;  // samples from row to row, >= width

  constexpr PlaneView() = default;
  constexpr PlaneView(T* samples, int w, int h, std::ptrdiff_t row_stride)
      : data(samples), width(w), height(h), stride(row_stride) {}
  template <class U>
  requires std::convertible_to<U (*)[], T (*)[]>  // adds const
  constexpr PlaneView(PlaneView<U> other)
      : data(other.data), width(other.width), height(other.height), stride(other.stride) {}

  constexpr T& operator()(int x, int y) const { return data[y * stride + x]; }
  constexpr T* row(int y) const { return data + y * stride; }
  constexpr bool empty() const { return width <= 0 || height <= 0; }
};

}  // namespace lull
