#pragma once
// Selects the kernel for a sample type.

#include <cstdint>
#include <type_traits>

#include "core/dither/dither.h"
#include "core/frame.h"
#include "cuda/device_planes.h"

namespace lull {

/// Calls use(T{}), where T is the C++ type of the samples.
template <class Use>
void with_sample_type(SampleType sample, Use use) {
  switch (sample) {
    case SampleType::u8:
      return use(std::uint8_t{});
    case SampleType::u16:
      return use(std::uint16_t{});
    case SampleType::f32:
      return use(float{});
  }
}

/// Parameters of the conversion of floats to integer samples.
struct Rounding {
  int max_value;  // samples are clamped to 0..max_value
  // Dithering thresholds in device memory. If the pointer is null, the conversion rounds to the
  // nearest integer, and ties upwards.
  const float* thresholds;

  constexpr explicit Rounding(const RawPlanes& to) : Rounding(to.max_value, to.thresholds) {}
  constexpr Rounding(int max_sample, const float* dither)
      : max_value(max_sample), thresholds(dither) {}

  __device__ bool dithers() const { return thresholds != nullptr; }
  /// Returns the dithering threshold of the sample at (x, y).
  __device__ float threshold(int x, int y) const { return __ldg(thresholds + dither_index(x, y)); }
  __device__ float clamped(float v) const {
    return fminf(fmaxf(v, 0.0f), static_cast<float>(max_value));
  }
};

/// Converts a float to a sample, as as_sample() (core/samples.h) does on the host. For integer
/// types, the function rounds to nearest, with ties upwards, and clamps the result.
template <class Sample>
__device__ Sample to_sample(float v, const Rounding& rounding) {
  if constexpr (std::is_same_v<Sample, float>)
    return v;
  else
    return static_cast<Sample>(static_cast<int>(rounding.clamped(v) + 0.5f));
}

}  // namespace lull
