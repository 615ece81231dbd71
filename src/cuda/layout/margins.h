#pragma once
// Layout of planes in device memory, and the maximum sizes that kernels can address. This file does
// not need the CUDA toolkit.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/round_up.h"

namespace lull {

/// Layout of a plane with margins, so that kernels read search windows beyond the picture without
/// checks. Offsets are in elements.
struct Margins {
  int width = 0, height = 0;  // size of the picture
  int left = 0, top = 0;      // margins; multiples of 4, at least the search window's radius
  int pitch = 0, rows = 0;    // size of the plane with its margins; `pitch` is a multiple of 32

  Margins() = default;
  // Kernels load the union of the search windows of several reference patches, which are up to 24
  // samples apart. Therefore, the right and lower margins exceed the window radius by 64 samples.
  // Kernels that sum weights also read `rows_above` rows above the picture.
  constexpr Margins(int w, int h, int window, int rows_above)
      : width(w),
        height(h),
        left(round_up(window / 2 + 4, 16)),
        top(round_up(std::max(window / 2, rows_above), 4)),
        pitch(round_up(left + w + window / 2 + 64, 32)),
        rows(top + h + window / 2 + 64) {}
  constexpr int at(int x, int y) const { return (y + top) * pitch + x + left; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(pitch) * rows; }

  /// Returns a layout without margins. Conversions of samples use this layout. Row pitches are
  /// multiples of 32 samples.
  static constexpr Margins none(int width, int height) {
    Margins flat;
    flat.width = width, flat.height = flat.rows = height;
    flat.pitch = flat_pitch(width);
    return flat;
  }
  static constexpr int flat_pitch(int width) { return round_up(width, 32); }
};

/// Maximum number of samples of a plane with its padding: kernels use signed 32-bit indices.
inline constexpr std::int64_t max_plane_samples = std::numeric_limits<std::int32_t>::max();
/// Maximum number of rows of a plane. A grid has at most 65535 thread blocks along y, and each
/// block processes at least 8 rows.
inline constexpr std::int64_t max_plane_rows = 8 * 65535;
constexpr bool is_addressable(std::int64_t pitch, std::int64_t rows) {
  return rows <= max_plane_rows && pitch * rows <= max_plane_samples;
}
/// Checks the size of a plane, with `rows` rows of `pitch` samples including its padding.
/// @throws InvalidArgument  kernels cannot address the plane
void require_addressable(int width, int height, std::int64_t pitch, std::int64_t rows);
inline void require_addressable(const Margins& margins) {
  require_addressable(margins.width, margins.height, margins.pitch, margins.rows);
}

}  // namespace lull
