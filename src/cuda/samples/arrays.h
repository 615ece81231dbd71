#pragma once
// Converts arrays in GPU memory, of any type and strides, to planes of samples and back. The input
// must be complete before a call, and the output is complete on return.
// @throws DeviceUnavailable (also in builds without CUDA), DeviceFailure

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/frame.h"

namespace lull::cuda {

/// Types of array elements, in native byte order.
enum class NumberType { u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64 };

/// A plane of array elements in device memory.
struct ArrayPlane {
  std::byte* data = nullptr;
  std::ptrdiff_t row = 0, number = 0;  // bytes from row to row, and from element to element
};

/// The planes of a frame in an array. The value of an element is low + sample * span. If elements
/// have the integer type of the samples, low is 0 and span is 1.
struct ArrayPicture {
  int device = 0;
  NumberType type = NumberType::f32;
  double low = 0, span = 1;
  std::array<ArrayPlane, 3> planes{};

  /// Returns whether the elements can serve as samples of the given type without a conversion.
  [[nodiscard]] constexpr bool has_samples(SampleType sample) const {
    const NumberType same = sample == SampleType::u8    ? NumberType::u8
                            : sample == SampleType::u16 ? NumberType::u16
                                                        : NumberType::f32;
    return type == same && low == 0 && span == 1;
  }
};

using DevicePlanes = std::array<PlaneView<std::byte>, 3>;  // width and stride in bytes

/// Converts array elements to samples. An element is low + sample * span. If low is not 0 or span
/// is not 1, samples below -0.5 or above 1.5 become NaN. Filters preserve NaN, so that
/// samples_to_array() can restore the original elements.
/// @throws InvalidArgument  the elements need a conversion, but the format's samples are not floats
void array_to_samples(const ArrayPicture& from, const FrameFormat& format, const DevicePlanes& to);
/// Converts the filtered samples in `result` to elements. If a sample is NaN, or if the filter has
/// not changed it, the function copies the element of `original` instead. `original` must have the
/// device, type, low and span of `to`.
void samples_to_array(const DevicePicture& result, const FrameFormat& format,
                      const ArrayPicture& original, const ArrayPicture& to);

/// An array in device memory, with up to five axes.
struct NumberGrid {
  static constexpr int max_axes = 5;
  const std::byte* data = nullptr;
  std::array<std::int64_t, max_axes> length{1, 1, 1, 1, 1};
  std::array<std::ptrdiff_t, max_axes> stride{};  // bytes

  [[nodiscard]] constexpr std::int64_t size() const {
    std::int64_t numbers = 1;
    for (const std::int64_t one : length) numbers *= one;
    return numbers;
  }
};

/// Copies every `step`-th element of an array, in C order, to contiguous memory at `to` on the same
/// device. Elements have 1, 2, 4 or 8 bytes. The copy is complete on return.
void gather(const NumberGrid& from, int bytes, std::int64_t step, void* to, int device);
/// Returns the maximum of an array of 16-bit integers.
[[nodiscard]] int max_u16(const NumberGrid& numbers, int device);

}  // namespace lull::cuda
