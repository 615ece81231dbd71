#pragma once
// Pictures for lull preview: before, after and the removed part side by side, and depth maps in
// grey.

#include "core/frame.h"
#include "noise/depth/depth_scale.h"

namespace lull::tools {

/// Returns before, after, and the amplified difference around mid-grey, side by side, with 8 bits.
/// The inputs are R G B of 16 bits, as io::to_rgb() makes them.
[[nodiscard]] Frame panels(const Frame& before, const Frame& after, int factor);

/// Returns the root mean square difference of such frames on the 0..255 scale.
[[nodiscard]] float rms_difference(const Frame& before, const Frame& after);

/// The depths that are displayed as the darkest and the brightest grey.
struct DisplayedDepths {
  double low = 0, high = 1;
};
/// Returns the range of a map without a thousandth of its samples at either end, so that outliers
/// do not reduce the contrast.
[[nodiscard]] DisplayedDepths displayed_depths(const Frame& map, const DepthSamples& samples);
/// Returns a depth map as R G B of 16 bits: holes are black, other samples from dark grey to white.
[[nodiscard]] Frame depth_picture(const Frame& map, const DepthSamples& samples,
                                  const DisplayedDepths& range);

}  // namespace lull::tools
