#pragma once
// Conversion between a frame's samples and float samples on the 0..255 scale.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/dither/dither.h"
#include "core/frame.h"
#include "core/frame_pool.h"
#include "core/image.h"

namespace lull {

/// Returns the factor that converts the sample values of a frame's plane to the 0..255 scale.
constexpr float to_unit_255(const FrameFormat& format, int plane = 0) {
  return static_cast<float>(255.0 / format.full_scale(plane));
}

/// Multiplies each sample by a factor: dst = src * scale.
template <class T>
void load_samples(PlaneView<const T> src, float scale, PlaneView<float> dst) {
  for (int y = 0; y < dst.height; ++y) {
    const T* from = src.row(y);
    float* to = dst.row(y);
    for (int x = 0; x < dst.width; ++x) to[x] = static_cast<float>(from[x]) * scale;
  }
}

/// Converts `v` to a sample, in the same way as the CUDA function to_sample(). If T is a
/// floating-point type, returns `v`. If T is an integer type, rounds `v` to the nearest integer,
/// ties upwards, and clamps the integer to [0, max_value]. NaN becomes 0.
template <class T>
constexpr T as_sample(float v, float max_value) {
  if constexpr (std::is_floating_point_v<T>) {
    return v;
  } else {
    const float low = v > 0.0f ? v : 0.0f;
    return static_cast<T>(static_cast<int>((low < max_value ? low : max_value) + 0.5f));
  }
}

/// Multiplies each sample by a factor and rounds the result: dst = as_sample(src * scale).
template <class T>
void store_samples(PlaneView<const float> src, float scale, float max_value, PlaneView<T> dst) {
  for (int y = 0; y < dst.height; ++y) {
    const float* from = src.row(y);
    T* to = dst.row(y);
    for (int x = 0; x < dst.width; ++x) to[x] = as_sample<T>(from[x] * scale, max_value);
  }
}

/// Multiplies each sample by a factor, and dithers the result.
template <class T>
void dither_samples(PlaneView<const float> src, float scale, int max_value,
                    const DitherPattern& pattern, PlaneView<T> dst) {
  const auto greatest = static_cast<float>(max_value);
  for (int y = 0; y < dst.height; ++y) {
    const float* from = src.row(y);
    T* to = dst.row(y);
    float carry = 0;
    for (int x = 0; x < dst.width; ++x) {
      if (x % dither_group == 0) carry = pattern[dither_index(x, y)];
      const float v = from[x] * scale, low = v > 0.0f ? v : 0.0f;
      to[x] = static_cast<T>(dithered(low < greatest ? low : greatest, max_value, carry));
    }
  }
}

/// Converts plane `i` of `frame` to the 0..255 scale and writes it to `dst`, which has the plane's
/// size.
inline void load_plane(const Frame& frame, int i, PlaneView<float> dst) {
  const float scale = to_unit_255(frame.format, i);
  switch (frame.format.sample) {
    case SampleType::u8:
      return load_samples<std::uint8_t>(frame.plane<std::uint8_t>(i), scale, dst);
    case SampleType::u16:
      return load_samples<std::uint16_t>(frame.plane<std::uint16_t>(i), scale, dst);
    case SampleType::f32:
      return load_samples<float>(frame.plane<float>(i), scale, dst);
  }
}

/// Converts `src` from the 0..255 scale to the format of `frame` and writes it to plane `i` of
/// `frame`.
inline void store_plane(PlaneView<const float> src, const Frame& frame, int i) {
  const FrameFormat& format = frame.format;
  const float scale = static_cast<float>(format.full_scale(i)) / 255.0f;
  const DitherPattern* const pattern = dither_pattern(format.dither);
  const auto store = [&]<class T>(PlaneView<T> to) {
    if (pattern != nullptr) return dither_samples(src, scale, format.max_value(), *pattern, to);
    store_samples(src, scale, static_cast<float>(format.max_value()), to);
  };
  switch (format.sample) {
    case SampleType::u8:
      return store(frame.plane<std::uint8_t>(i));
    case SampleType::u16:
      return store(frame.plane<std::uint16_t>(i));
    case SampleType::f32:
      return store_samples(src, scale, 0.0f, frame.plane<float>(i));
  }
}

/// Returns whether frames of two formats store samples in the same way, so that a copy needs no
/// conversion.
constexpr bool have_equal_samples(const FrameFormat& a, const FrameFormat& b) {
  return a.sample == b.sample && a.bits == b.bits && a.luma_scale == b.luma_scale &&
         a.chroma_scale == b.chroma_scale;
}

/// Returns the integer `sample` multiplied by `ratio`, rounded to an integer of at most
/// `max_value`. Single precision would round some 16-bit values incorrectly.
constexpr int converted_sample(int sample, double ratio, int max_value) {
  const double v = sample * ratio + 0.5;
  return v < max_value ? static_cast<int>(v) : max_value;
}

/// Converts the integer samples of an unfiltered plane to samples of `format`. `ratio` is the value
/// by which the function multiplies the samples of `src`.
template <class From, class To>
void convert_samples(PlaneView<const From> src, double ratio, const FrameFormat& format,
                     PlaneView<To> dst) {
  const int max_value = format.max_value();
  const DitherPattern* const pattern = dither_pattern(format.dither);
  for (int y = 0; y < dst.height; ++y) {
    const From* from = src.row(y);
    To* to = dst.row(y);
    float carry = 0;
    for (int x = 0; x < dst.width; ++x) {
      if (pattern == nullptr) {
        to[x] = static_cast<To>(converted_sample(from[x], ratio, max_value));
        continue;
      }
      if (x % dither_group == 0) carry = (*pattern)[dither_index(x, y)];
      const double v = from[x] * ratio;
      to[x] = static_cast<To>(
          dithered(static_cast<float>(v < max_value ? v : max_value), max_value, carry));
    }
  }
}

/// Copies plane `i` of `from` to `to`, which has the same size. If the two formats differ in the
/// scale of their samples, the samples must be integers, and the function converts them.
inline void copy_plane(const Frame& from, int i, const Frame& to) {
  const int height = from.format.plane_height(i);
  if (have_equal_samples(from.format, to.format)) {
    const int bytes = from.format.plane_width(i) * from.format.bytes_per_sample();
    for (int y = 0; y < height; ++y) std::copy_n(from.planes[i].row(y), bytes, to.planes[i].row(y));
    return;
  }
  const auto convert = [&]<class From, class To>(PlaneView<const From> source, PlaneView<To> dst) {
    convert_samples(source, to.format.full_scale(i) / from.format.full_scale(i), to.format, dst);
  };
  const auto convert_from = [&]<class From>(PlaneView<const From> source) {
    if (to.format.sample == SampleType::u8) return convert(source, to.plane<std::uint8_t>(i));
    convert(source, to.plane<std::uint16_t>(i));
  };
  if (from.format.sample == SampleType::u8)
    return convert_from(PlaneView<const std::uint8_t>(from.plane<std::uint8_t>(i)));
  convert_from(PlaneView<const std::uint16_t>(from.plane<std::uint16_t>(i)));
}

/// Copies `frame` to a new frame of `pool`. If the formats of `frame` and `pool` differ, the
/// function converts the samples.
[[nodiscard]] inline Frame copied(const Frame& frame, FramePool& pool) {
  Frame copy = pool.acquire();
  copy.copy_info(frame);
  for (int i = 0; i < frame.format.planes(); ++i) copy_plane(frame, i, copy);
  return copy;
}

/// Returns a frame with the unfiltered samples of `frame`, in the format of the frames of `pool`.
/// If equal sample values have the same meaning in both formats, the result shares the buffer of
/// `frame`.
[[nodiscard]] inline Frame unfiltered(Frame frame, FramePool& pool) {
  if (!have_equal_samples(frame.format, pool.format())) return copied(frame, pool);
  frame.format = pool.format();
  return frame;
}

}  // namespace lull
