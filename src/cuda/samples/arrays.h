#pragma once
// Arrays of programs in the memory of a GPU, of any type and any strides, to planes of samples and
// back. What is read was written by work that is done, and so is what is written when functions
// return. Builds without CUDA have them, too; there they throw. @throws DeviceUnavailable,
// DeviceFailure

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/frame.h"

namespace lull::cuda {

/// Of the machine's byte order.
enum class NumberType { u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64 };

/// A picture, at an address of a device.
struct ArrayPlane {
  std::byte* data = nullptr;
  std::ptrdiff_t row = 0, number = 0;  // bytes from each to the next
};

/// Planes of a frame in an array, whose numbers are low + sample * span; of integers as they are,
/// samples of the same type, low is 0 and span 1.
struct ArrayPicture {
  int device = 0;
  NumberType type = NumberType::f32;
  double low = 0, span = 1;
  std::array<ArrayPlane, 3> planes{};

  /// Whether numbers are samples as they are.
  [[nodiscard]] constexpr bool has_samples(SampleType sample) const {
    const NumberType same = sample == SampleType::u8    ? NumberType::u8
                            : sample == SampleType::u16 ? NumberType::u16
                                                        : NumberType::f32;
    return type == same && low == 0 && span == 1;
  }
};

using DevicePlanes = std::array<PlaneView<std::byte>, 3>;  // width and stride in bytes

/// The samples of an array. Where low and span say what they are, those far outside of 0..1 become
/// no numbers: filters restore them.
/// @throws InvalidArgument  numbers that are neither samples nor become floats
void array_to_samples(const ArrayPicture& from, const FrameFormat& format, const DevicePlanes& to);
/// The way back. What filters left as it was in `original`, or as no number, gets the number that
/// it had there. Both arrays are of one device and have one type, low and span.
void samples_to_array(const DevicePicture& result, const FrameFormat& format,
                      const ArrayPicture& original, const ArrayPicture& to);

/// Numbers in the memory of a device, in up to five axes.
struct NumberGrid {
  static constexpr int max_axes = 5;
  const std::byte* data = nullptr;
  std::array<std::int64_t, max_axes> length{1, 1, 1, 1, 1};
  std::array<std::ptrdiff_t, max_axes> stride{};  // in bytes

  [[nodiscard]] constexpr std::int64_t size() const {
    std::int64_t numbers = 1;
    for (const std::int64_t one : length) numbers *= one;
    return numbers;
  }
};

/// Every `step`-th number, of 1, 2, 4 or 8 bytes, in the order of the axes, one after the other to
/// `to` on the same device. Done when it returns.
void gather(const NumberGrid& from, int bytes, std::int64_t step, void* to, int device);
/// The greatest of 16-bit integers.
[[nodiscard]] int greatest_u16(const NumberGrid& numbers, int device);

}  // namespace lull::cuda
