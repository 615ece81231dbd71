#pragma once
// Variance stabilisation of depth maps, for filters of grey frames with white Gaussian noise of one
// level.

#include <memory>

#include "core/denoiser.h"
#include "noise/depth/depth_scale.h"

namespace lull {

/// Returns the format of the stabilised frames that with_vst() passes to its filter for depth maps
/// of `format`: floats, with 255 for white.
[[nodiscard]] FrameFormat stabilised_depth_format(const FrameFormat& format);

/// Converts a depth map to the frame that a filter gets. DepthScale::forward() maps the samples;
/// the holes are filled (fill_holes.h) and listed in Frame::holes. `stabilised` must have the
/// format of stabilised_depth_format(); its samples are overwritten.
void stabilise_depth(const DepthScale& scale, const Frame& depth, Frame& stabilised);

/// Makes a session for depth maps. `filter` must be a session for frames of
/// stabilised_depth_format(format) with holes, opened for the noise level scale.level(). The
/// session preserves holes, and samples that the filter leaves unchanged, bit for bit. No other
/// sample gets a value that marks a hole.
/// @throws InvalidArgument  frames with several planes
[[nodiscard]] std::unique_ptr<Denoiser> with_vst(const DepthScale& scale, const FrameFormat& format,
                                                 std::unique_ptr<Denoiser> filter);

}  // namespace lull
