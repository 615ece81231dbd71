#pragma once
// Pictures for `lull preview`: before, after and residual side by side. Depth maps are grey.

#include "core/frame.h"
#include "noise/depth/depth_scale.h"

namespace lull::tools {

/// Returns three 8-bit panels side by side: before, after, and the amplified difference around
/// mid-grey. Inputs are 16-bit R G B from io::to_rgb().
[[nodiscard]] Frame panels(const Frame& before, const Frame& after, int factor);

/// Returns the root mean square difference of two 16-bit R G B frames, on the 0..255 scale.
[[nodiscard]] float rms_difference(const Frame& before, const Frame& after);

/// The depth of the darkest grey and the depth of the brightest grey in a picture.
struct DisplayedDepths {
  double low = 0, high = 1;
};
/// Returns the range of depths without the lowest and the highest thousandth (outliers).
[[nodiscard]] DisplayedDepths displayed_depths(const Frame& map, const DepthSamples& samples);
/// Returns a depth map as 16-bit R G B. Holes are black, and other samples are dark grey to white.
[[nodiscard]] Frame depth_picture(const Frame& map, const DepthSamples& samples,
                                  const DisplayedDepths& range);

}  // namespace lull::tools
