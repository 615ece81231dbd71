#pragma once
// Makes pictures for `lull preview`: the frame before denoising, the frame after denoising and the
// residual side by side. The pictures of depth maps are grey.

#include "core/frame.h"
#include "noise/depth/depth_scale.h"

namespace lull::tools {

/// Returns three 8-bit panels side by side: the frame before denoising, the frame after denoising,
/// and the amplified difference around mid-grey. The inputs are pictures from io::to_rgb(), with R
/// G B of 16 bits.
[[nodiscard]] Frame panels(const Frame& before, const Frame& after, int factor);

/// Returns the root mean square difference of two R G B frames of 16 bits, on the 0..255 scale.
[[nodiscard]] float rms_difference(const Frame& before, const Frame& after);

/// The depth of the darkest grey and the depth of the brightest grey in a picture.
struct DisplayedDepths {
  double low = 0, high = 1;
};
/// Returns the range of depths in the picture. The range excludes the lowest and the highest
/// thousandth, so that outliers do not reduce the contrast.
[[nodiscard]] DisplayedDepths displayed_depths(const Frame& map, const DepthSamples& samples);
/// Returns a depth map as R G B of 16 bits. Holes are black, and other samples are dark grey to
/// white.
[[nodiscard]] Frame depth_picture(const Frame& map, const DepthSamples& samples,
                                  const DisplayedDepths& range);

}  // namespace lull::tools
