#pragma once
// Constant areas: connected samples of one value that noise cannot have produced, for example the
// background of a masked volume, saturated samples, or a letterbox.

// Rule 1: an area of equal samples is a constant area if it differs from the surrounding samples by
// more than noise. The area must have at least 256 samples (9 in a slice of a volume), or extend
// from one border of the plane to the opposite border. In a slice, smaller areas with the value of
// a larger constant area are constant areas, too.

// Rule 2: an area of equal samples is a constant area if the surrounding samples have similar
// values, but only on one side of the area's value (above or below), as with clipping. The search
// excludes ragged parts of the area.

// Rule 3: an area of equal samples with similar surrounding samples is a constant area if the noise
// level is at least two quantisation steps. In pictures, the area must also have at least 1024
// samples and touch the border. The search excludes ragged parts, except in slices with a noise
// level of at least eight quantisation steps.

// Rule 4: complete rows or columns of equal samples at the border of the plane are a constant area.

// Exceptions: rules 2 to 4 do not apply to areas in smooth gradients, where neighbouring samples
// differ by a single step. In pictures, rule 3 does not apply to areas that consist of the 8x8
// blocks of a codec. If these areas together have more than two values, rule 1 does not apply to
// them either.

#include <cstdint>
#include <vector>

#include "core/frame.h"

namespace lull {

/// A run of samples in the row `y`. `begin` is the column of the first sample, and `end` is the
/// column after the last sample.
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
