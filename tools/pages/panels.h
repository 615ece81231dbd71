#pragma once
// Makes pictures for `lull preview`: the frame before denoising, the frame after denoising and the
// residual side by side. Depth maps become grey pictures.

#include "core/frame.h"
#include "noise/depth/depth_scale.h"

namespace lull::tools {

/// Returns three 8-bit panels side by side: the frame before denoising, the frame after denoising,
/// and the amplified difference around mid-grey. The inputs are R G B of 16 bits, as io::to_rgb()
/// returns them.
[[nodiscard]] Frame panels(const Frame& before, const Frame& after, int factor);

/// Returns the root mean square difference of two frames that panels() accepts, on the 0..255
/// scale.
[[nodiscard]] float rms_difference(const Frame& before, const Frame& after);

/// The depths that are displayed as the darkest grey and as the brightest grey.
struct DisplayedDepths {
  double low = 0, high = 1;
};
/// Returns the range of depths that the picture shows: without the lowest and the highest
/// thousandth, so that outliers do not reduce the contrast.
[[nodiscard]] DisplayedDepths displayed_depths(const Frame& map, const DepthSamples& samples);
/// Returns a depth map as R G B of 16 bits. Holes are black, and other samples are dark grey to
/// white.
[[nodiscard]] Frame depth_picture(const Frame& map, const DepthSamples& samples,
                                  const DisplayedDepths& range);

}  // namespace lull::tools
