#pragma once
// Decisions that sessions make once for the format of their frames: which planes share weights, in
// which planes distances are measured, and the plans of the engines.

#include <vector>

#include "core/frame.h"
#include "nlm/engine.h"
#include "noise/stabiliser.h"
#include "time/frame_session.h"

namespace lull::nlm {

/// Planes of one size that share their weights.
struct PlaneSet {
  std::vector<int> planes;  // planes to average
  std::vector<int> guides;  // planes in which distances are measured: the first of `planes`
};

/// Returns the sets of planes that share weights. RGB is one set. YUV planes of one size are one
/// set with luma as guide. If chroma has another size, or luma passes through, both chroma planes
/// are one set with weights of their own. Planes without noise are in no set.
[[nodiscard]] std::vector<PlaneSet> plane_sets(const FrameFormat& format, const NoiseModel& noise);

[[nodiscard]] SessionPlan session_plan(const Params& params, const FrameFormat& format);
/// Returns the plan of the engine for `set`, one of the session's plane_sets().
[[nodiscard]] FramePlan frame_plan(const Params& params, const FrameFormat& format,
                                   const PlaneSet& set);
/// Returns the plan of the engine for `plane`, which must have noise.
[[nodiscard]] VolumePlan volume_plan(const Params& params, const FrameFormat& format, int plane);

/// Returns the number of slices of this size that a GPU filters at a time if patches are small
/// cubes. Fewer large slices are needed to occupy the GPU, and they use more of its memory.
[[nodiscard]] constexpr int slices_on_gpu(int width, int height) {
  return width * height > 1024 * 1024 ? 16 : 32;
}

/// Stabilisers of the planes whose noise follows a curve.
[[nodiscard]] Stabilisers stabilisers_of(const Params& params);

}  // namespace lull::nlm
