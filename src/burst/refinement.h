#pragma once
// An alignment made better by what differs under it (Lucas and Kanade 1981, "An iterative image
// registration technique with an application to stereo vision", for the four numbers of a
// similarity; what differs by far more than noise and detail explain counts less: Huber).

#include "burst/alignment.h"

namespace lull::burst {

/// `guess` must be right to about a sample.
[[nodiscard]] Alignment refined(PlaneView<const float> picture, PlaneView<const float> other,
                                Alignment guess);

}  // namespace lull::burst
