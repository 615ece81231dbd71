#pragma once
// The plan of a session of non-local means: planes with common weights, guide planes, and engines.

#include <vector>

#include "core/frame.h"
#include "nlm/engine.h"
#include "noise/stabiliser.h"
#include "time/frame_session.h"

namespace lull::nlm {

/// Planes of equal size that the engine filters with the same weights.
struct PlaneSet {
  std::vector<int> planes;  // planes to average
  std::vector<int> guides;  // planes in which distances are measured: the first of `planes`
};

/// Returns the sets of planes with common weights, without noise-free planes. The planes of RGB, or
/// of YUV with equal sizes, are one set. Chroma is a separate set with its own guide if it is
/// subsampled, or if the filter skips luma.
[[nodiscard]] std::vector<PlaneSet> plane_sets(const FrameFormat& format, const NoiseModel& noise);

[[nodiscard]] SessionPlan session_plan(const Params& params, const FrameFormat& format);
/// Returns the plan of the engine for `set`, one of the plane_sets() of the session.
[[nodiscard]] FramePlan frame_plan(const Params& params, const FrameFormat& format,
                                   const PlaneSet& set);
/// Returns the plan of the engine for plane `plane` of a volume. The plane must have noise.
[[nodiscard]] VolumePlan volume_plan(const Params& params, const FrameFormat& format, int plane);

/// Returns the number of slices that a GPU filters together if patches are small cubes. The number
/// is smaller for large slices, because fewer large slices are enough to keep the GPU busy.
[[nodiscard]] constexpr int slices_on_gpu(int width, int height) {
  return width * height > 1024 * 1024 ? 16 : 32;
}

/// Returns the variance stabilisers of the planes that have a noise curve.
[[nodiscard]] Stabilisers stabilisers_of(const Params& params);

}  // namespace lull::nlm
