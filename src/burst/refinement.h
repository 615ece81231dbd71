#pragma once
// Refines a similarity by least squares (Lucas and Kanade 1981, "An iterative image registration
// technique with an application to stereo vision") with Huber's weights against outliers.

#include "burst/alignment.h"

namespace lull::burst {

/// Returns the refined alignment. The error of `guess` must be at most about one sample.
[[nodiscard]] Alignment refined(PlaneView<const float> picture, PlaneView<const float> other,
                                Alignment guess);

}  // namespace lull::burst
