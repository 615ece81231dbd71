#pragma once
// Constant areas: connected samples of one value that noise cannot have produced, for example the
// background of a masked volume, saturated samples, or a letterbox.

// Rule 1 for constant areas: the area differs from the surrounding samples by more than noise, and
// has at least 256 samples, or 9 in a slice of a volume. In a slice, smaller areas with the value
// of a larger area are constant areas, too.

// Rule 2 for constant areas: the surrounding samples are similar, and all of them are on one side
// of the area's value, as with clipping. Ragged parts of the area are excluded.

// Rule 3 for constant areas: the surrounding samples are similar, and the noise level is at least
// two quantisation steps. The area is in a slice of a volume, or it is large and touches the border
// of a picture. Ragged parts of the area are excluded.

// Rule 4 for constant areas: the area consists of complete rows or columns at the border of the
// plane.

// Exceptions: rules 2 and 3 do not apply to areas in smooth gradients, where neighbouring samples
// differ by a single step. In pictures, some areas consist of the 8x8 blocks of a codec. If these
// areas have more than two values in total, none of them is a constant area.

#include <cstdint>
#include <vector>

#include "core/frame.h"

namespace lull {

/// A run of samples: `begin` to `end` - 1 of row `y`.
struct SampleRun {
  int y = 0, begin = 0, end = 0;
  bool operator==(const SampleRun&) const = default;
};

/// The constant areas of a plane, as disjoint runs of samples.
struct PlaneAreas {
  std::vector<SampleRun> preserved;  // all areas
  /// The areas that differ from the surrounding samples by more than noise. Sessions replace these
  /// areas before filtering, because the areas would distort the results of the surrounding
  /// samples.
  std::vector<SampleRun> foreign;

  bool none() const { return preserved.empty(); }
};

/// Finds the constant areas of a plane in host memory, by the rules at the top of this file.
/// @param sigma  noise level of the plane on the 0..255 scale, > 0
/// @param is_slice  whether the frame is a slice of a volume
[[nodiscard]] PlaneAreas find_areas(const Frame& frame, int plane, float sigma, bool is_slice);

}  // namespace lull
