#pragma once
// What sessions plan once for frames of a format: which planes share their weights, where distances
// are taken, and what engines are told of it.

#include <vector>

#include "core/frame.h"
#include "nlm/engine.h"
#include "noise/stabiliser.h"
#include "time/frame_session.h"

namespace lull::nlm {

/// Planes of one size.
struct PlaneSet {
  std::vector<int> planes;  // whose samples are averaged
  std::vector<int> guides;  // that distances are taken in: the first of the planes
};

/// RGB jointly. Of YUV whose planes have one size all have luma's weights. Chroma of another size,
/// or beside luma that passes through, has its own, from both planes together. Planes without noise
/// are in no set.
[[nodiscard]] std::vector<PlaneSet> plane_sets(const FrameFormat& format, const NoiseModel& noise);

[[nodiscard]] SessionPlan session_plan(const Params& params, const FrameFormat& format);
/// `set`: of the session's plane_sets().
[[nodiscard]] FramePlan frame_plan(const Params& params, const FrameFormat& format,
                                   const PlaneSet& set);
/// Of a plane with noise.
[[nodiscard]] VolumePlan volume_plan(const Params& params, const FrameFormat& format, int plane);

/// Slices of this size that a GPU filters at a time, where patches are small cubes: of large ones
/// fewer fill it, and its memory.
[[nodiscard]] constexpr int slices_on_gpu(int width, int height) {
  return width * height > 1024 * 1024 ? 16 : 32;
}

/// What is made even where noise follows a curve.
[[nodiscard]] Stabilisers stabilisers_of(const Params& params);

}  // namespace lull::nlm
