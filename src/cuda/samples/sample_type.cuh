#pragma once
// Selects the kernel for a sample type.

#include <cstdint>
#include <type_traits>

#include "core/frame.h"

namespace lull {

/// Calls `use` with a value of the sample type.
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

/// Converts like as_sample() on the host (core/samples.h): integers are rounded to nearest, ties
/// upwards, and clamped.
template <class Sample>
__device__ Sample to_sample(float v, float full_scale) {
  if constexpr (std::is_same_v<Sample, float>)
    return v;
  else
    return static_cast<Sample>(static_cast<int>(fminf(fmaxf(v, 0.0f), full_scale) + 0.5f));
}

}  // namespace lull
