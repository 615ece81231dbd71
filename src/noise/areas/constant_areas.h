#pragma once
// Constant areas: connected samples of exactly one value that noise cannot have produced. Examples
// are the background of a masked volume, the padding of a CT, saturated samples, and a letterbox. A
// connected area of equal samples counts as a constant area by one of four rules.

// Rule 1 for constant areas: the samples next to the area differ from its value by more than noise.
// The area has at least 256 samples (picture) or 9 samples (slice of a volume). In a slice, smaller
// areas with the value of a larger area also count.

// Rule 2 for constant areas: the samples next to the area are similar to it, and none of them is
// above its value, or none is below (clipped samples). The area counts without its ragged parts.

// Rule 3 for constant areas: the samples next to the area are similar to it, and the noise level is
// at least two steps of the samples. The area counts, without its ragged parts, if it is in a
// slice, or if it is large and at the border of a picture.

// Rule 4 for constant areas: the area consists of complete rows or columns at the border of the
// plane.

// Exceptions from the rules: if nearly all samples next to an area differ from it by a single step,
// the area is part of a smooth gradient. Rules 2 and 3 do not apply to such an area. In pictures,
// areas that consist of 8x8 blocks of a codec do not count if they have more than two values.

#include <cstdint>
#include <vector>

#include "core/frame.h"

namespace lull {

/// A run of samples: `begin` to `end` - 1 of row `y`.
struct SampleRun {
  int y = 0, begin = 0, end = 0;
  bool operator==(const SampleRun&) const = default;
};

/// The constant areas of a plane, as runs of samples that do not overlap.
struct PlaneAreas {
  std::vector<SampleRun> preserved;  // all areas
  /// The areas that differ from their surroundings by more than noise. Sessions replace these areas
  /// before filtering, because the areas would distort the results around them.
  std::vector<SampleRun> foreign;

  bool none() const { return preserved.empty(); }
};

/// Finds the constant areas of a plane of a frame in host memory, by the rules at the top of this
/// file. The result depends only on the samples of this plane.
/// @param sigma  noise level of the plane on the 0..255 scale, > 0
/// @param is_slice  whether the frame is a slice of a volume
[[nodiscard]] PlaneAreas find_areas(const Frame& frame, int plane, float sigma, bool is_slice);

}  // namespace lull
