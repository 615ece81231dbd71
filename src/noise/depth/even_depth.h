#pragma once
// Depth maps around a filter of grey frames with white Gaussian noise of one level.

#include <memory>

#include "core/denoiser.h"
#include "noise/depth/depth_scale.h"

namespace lull {

/// What the filter behind made_even() sees for depth maps of `format`: floats, 255 standing for
/// white.
[[nodiscard]] FrameFormat even_depth_format(const FrameFormat& format);

/// The frame that a filter sees for a depth map: DepthScale::forward(), holes filled (fill_holes.h)
/// and named (Frame::holes). `even`: of even_depth_format(), whose samples are written.
void make_even_depth(const DepthScale& scale, const Frame& depth, Frame& even);

/// A session for depth maps. `filter` is one for even_depth_format(format), frames with holes, and
/// noise of scale.level(). Holes come out bit by bit, and so do samples that the filter leaves as
/// they are; no other sample becomes one that marks a hole.
/// @throws InvalidArgument  frames of several planes
[[nodiscard]] std::unique_ptr<Denoiser> made_even(const DepthScale& scale,
                                                  const FrameFormat& format,
                                                  std::unique_ptr<Denoiser> filter);

}  // namespace lull
