#pragma once
// Variance stabilisation of depth maps, so that filters for white Gaussian noise of one level can
// process them as grey frames.

#include <memory>

#include "core/denoiser.h"
#include "noise/depth/depth_scale.h"

namespace lull {

/// Returns the format of the stabilised frames for depth maps of `format`: floats, with 255 for
/// white.
[[nodiscard]] FrameFormat stabilised_depth_format(const FrameFormat& format);

/// Writes the depth map `depth`, converted by DepthScale::forward(), to `stabilised`. The function
/// also fills the holes of the result (fill_holes.h), and lists them in Frame::holes. `stabilised`
/// must have the format of stabilised_depth_format().
void stabilise_depth(const DepthScale& scale, const Frame& depth, Frame& stabilised);

/// Makes a session for depth maps. `filter` must be a session for frames of
/// stabilised_depth_format(format) with holes and the noise level scale.level(). The session
/// preserves, bit for bit, holes and samples that the filter leaves unchanged. No other sample gets
/// a value that marks a hole.
/// @throws InvalidArgument  frames with several planes
[[nodiscard]] std::unique_ptr<Denoiser> with_vst(const DepthScale& scale, const FrameFormat& format,
                                                 std::unique_ptr<Denoiser> filter);

}  // namespace lull
