#pragma once
// Conversion between a frame's samples and float samples on the 0..255 scale.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/frame.h"
#include "core/image.h"

namespace lull {

/// Returns the factor that converts a frame's sample values to the 0..255 scale.
constexpr float to_unit_255(const FrameFormat& format) {
  return static_cast<float>(255.0 / format.full_scale());
}

/// Computes dst = src * scale.
template <class T>
void load_samples(PlaneView<const T> src, float scale, PlaneView<float> dst) {
  for (int y = 0; y < dst.height; ++y) {
    const T* from = src.row(y);
    float* to = dst.row(y);
    for (int x = 0; x < dst.width; ++x) to[x] = static_cast<float>(from[x]) * scale;
  }
}

/// Rounds to the nearest integer, ties upwards like to_sample() in kernels, and clamps to
/// [0, max_value]; NaN gives 0. Float samples keep values outside their nominal range.
template <class T>
constexpr T as_sample(float v, float max_value) {
  if constexpr (std::is_floating_point_v<T>) {
    return v;
  } else {
    const float low = v > 0.0f ? v : 0.0f;
    return static_cast<T>(static_cast<int>((low < max_value ? low : max_value) + 0.5f));
  }
}

/// Computes dst = as_sample(src * scale).
template <class T>
void store_samples(PlaneView<const float> src, float scale, float max_value, PlaneView<T> dst) {
  for (int y = 0; y < dst.height; ++y) {
    const float* from = src.row(y);
    T* to = dst.row(y);
    for (int x = 0; x < dst.width; ++x) to[x] = as_sample<T>(from[x] * scale, max_value);
  }
}

/// Loads plane `i` of `frame` on the 0..255 scale into `dst`, which has the plane's size.
inline void load_plane(const Frame& frame, int i, PlaneView<float> dst) {
  const float scale = to_unit_255(frame.format);
  switch (frame.format.sample) {
    case SampleType::u8:
      return load_samples<std::uint8_t>(frame.plane<std::uint8_t>(i), scale, dst);
    case SampleType::u16:
      return load_samples<std::uint16_t>(frame.plane<std::uint16_t>(i), scale, dst);
    case SampleType::f32:
      return load_samples<float>(frame.plane<float>(i), scale, dst);
  }
}

/// Stores `src`, on the 0..255 scale, as plane `i` of `frame`.
inline void store_plane(PlaneView<const float> src, const Frame& frame, int i) {
  const float full = static_cast<float>(frame.format.full_scale()), scale = full / 255.0f;
  switch (frame.format.sample) {
    case SampleType::u8:
      return store_samples(src, scale, full, frame.plane<std::uint8_t>(i));
    case SampleType::u16:
      return store_samples(src, scale, full, frame.plane<std::uint16_t>(i));
    case SampleType::f32:
      return store_samples(src, scale, full, frame.plane<float>(i));
  }
}

/// Copies plane `i` of `from` bit for bit to `to`, a frame of the same format.
inline void copy_plane(const Frame& from, int i, const Frame& to) {
  const int bytes = from.format.plane_width(i) * from.format.bytes_per_sample();
  for (int y = 0; y < from.format.plane_height(i); ++y)
    std::copy_n(from.planes[i].row(y), bytes, to.planes[i].row(y));
}

}  // namespace lull
