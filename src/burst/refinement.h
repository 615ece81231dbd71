#pragma once
// Refines an alignment by least squares over the four parameters of a similarity (Lucas and Kanade
// 1981, "An iterative image registration technique with an application to stereo vision"). Huber's
// weights reduce the influence of outliers.

#include "burst/alignment.h"

namespace lull::burst {

/// Returns the refined alignment. The error of `guess` must not be much larger than one sample.
[[nodiscard]] Alignment refined(PlaneView<const float> picture, PlaneView<const float> other,
                                Alignment guess);

}  // namespace lull::burst
