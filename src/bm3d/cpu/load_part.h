#pragma once
// Converts parts of a frame to float samples on the 0..255 scale.

#include "core/samples.h"

namespace lull::bm3d::cpu {

/// Loads a rectangle of plane `i` of `frame` as float samples, like load_plane(). The rectangle
/// begins at (x, y) and has the size of `to`.
inline void load_part(const Frame& frame, int i, int x, int y, PlaneView<float> to) {
  const float scale = to_unit_255(frame.format, i);
  const auto load = [&]<class T>(PlaneView<const T> plane) {
    load_samples<T>({plane.row(y) + x, to.width, to.height, plane.stride}, scale, to);
  };
  switch (frame.format.sample) {
    case SampleType::u8:
      return load(PlaneView<const std::uint8_t>(frame.plane<std::uint8_t>(i)));
    case SampleType::u16:
      return load(PlaneView<const std::uint16_t>(frame.plane<std::uint16_t>(i)));
    case SampleType::f32:
      return load(PlaneView<const float>(frame.plane<float>(i)));
  }
}

}  // namespace lull::bm3d::cpu
