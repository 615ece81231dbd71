#pragma once
// Before, after, and what was taken away, as one picture; depth maps for people to look at.

#include "core/frame.h"
#include "noise/depth/depth_scale.h"

namespace lull::tools {

/// Side by side: before, after, and mid-grey with what was taken away, amplified. They are R G B of
/// 16 bits, as io::to_rgb() makes them; what comes out has 8.
[[nodiscard]] Frame panels(const Frame& before, const Frame& after, int factor);

/// Root mean square of before - after, of such frames, on the 0..255 scale.
[[nodiscard]] float rms_difference(const Frame& before, const Frame& after);

/// The depths that are range as the darkest and the brightest grey.
struct DisplayedDepths {
  double low = 0, high = 1;
};
/// Those of a map, but for a thousandth of its samples at either end, so that a few wild ones do
/// not make all others alike.
[[nodiscard]] DisplayedDepths displayed_depths(const Frame& map, const DepthSamples& samples);
/// Holes are black, other samples from dark grey to white, as R G B of 16 bits.
[[nodiscard]] Frame depth_picture(const Frame& map, const DepthSamples& samples,
                                  const DisplayedDepths& range);

}  // namespace lull::tools
