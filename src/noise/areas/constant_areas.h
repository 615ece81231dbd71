#pragma once
// Constant areas: connected samples of exactly one value that cannot be the result of noise, for
// example the background of a masked volume, the padding of a CT, saturated samples, or a
// letterbox.

#include <cstdint>
#include <vector>

#include "core/frame.h"

namespace lull {

/// Samples `begin` to `end` - 1 of row `y`.
struct SampleRun {
  int y = 0, begin = 0, end = 0;
  bool operator==(const SampleRun&) const = default;
};

/// The constant areas of a plane. The runs of an area do not overlap.
struct PlaneAreas {
  std::vector<SampleRun> preserved;  // all areas
  /// The areas that differ from their surroundings by more than noise. Sessions replace these areas
  /// before filtering, because they would distort the results around them.
  std::vector<SampleRun> foreign;

  bool none() const { return preserved.empty(); }
};

/// Finds the constant areas of a plane of a frame in host memory. The result depends only on the
/// samples of this plane. A connected area of equal samples counts if one of the following is true:
///
/// 1. The samples next to the area differ from its value by more than noise, and the area has at
///    least 256 samples (picture) or 9 samples (slice of a volume). In a slice, smaller areas with
///    the value of a larger area also count.
/// 2. The samples next to the area are similar to it, and its value is at one end of the values
///    (clipped samples). The area then counts without its ragged parts.
/// 3. The samples next to the area are similar to it, and the noise level is at least two steps of
///    the samples. Such an area counts, without its ragged parts, in a slice, and in a picture if
///    it is large and at the border.
/// 4. The area consists of complete rows or columns at the border of the plane.
///
/// An area does not count by rule 2 or 3 if nearly all samples next to it differ from it by a
/// single step, because it is then a part of a smooth gradient. In pictures, areas that consist of
/// 8x8 blocks of a codec do not count if they have more than two values.
/// @param sigma  noise level of the plane on the 0..255 scale, > 0
/// @param is_slice  whether the frame is a slice of a volume
[[nodiscard]] PlaneAreas find_areas(const Frame& frame, int plane, float sigma, bool is_slice);

}  // namespace lull
