#pragma once
// A session that preserves constant areas.

#include <array>
#include <functional>
#include <memory>

#include "core/denoiser.h"

namespace lull {

/// Returns the noise level of each plane of a frame, on the 0..255 scale. A level of 0 disables the
/// search for constant areas in a plane.
using LevelsOfFrame = std::function<std::array<float, 3>(const Frame&)>;

struct AreaOptions {
  bool are_slices = false;  // whether the frames are slices of volumes
  /// If true, the session adds noise to the values that replace constant areas, so that smooth
  /// patches do not match these values. The value must be false for a filter that detects repeated
  /// frames, because added noise would make a repeated frame differ from the previous frame.
  bool adds_noise = true;
};

/// Makes a session that preserves constant areas (constant_areas.h) bit for bit. `filter` is a
/// session for frames of `format`, with results in host memory. Before filtering, the session
/// replaces PlaneAreas::foreign, the areas that differ from their surroundings by more than noise.
/// The session does not change frames in GPU memory. Results may have another sample format than
/// frames.
[[nodiscard]] std::unique_ptr<Denoiser> with_constant_areas(LevelsOfFrame levels,
                                                            const FrameFormat& format,
                                                            std::unique_ptr<Denoiser> filter,
                                                            const ResultSamples& results,
                                                            const AreaOptions& options);

}  // namespace lull
