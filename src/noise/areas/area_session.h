#pragma once
// A session that preserves constant areas.

#include <array>
#include <functional>
#include <memory>

#include "core/denoiser.h"

namespace lull {

/// Returns the noise level of each plane of a frame, on the 0..255 scale. The session does not
/// search for constant areas in planes with a level of 0.
using LevelsOfFrame = std::function<std::array<float, 3>(const Frame&)>;

struct AreaOptions {
  bool are_slices = false;  // whether the frames are slices of volumes
  /// If true, the session adds noise to the values that replace constant areas, so that smooth
  /// patches do not match these values. It must be false for filters that detect repeated frames,
  /// because added noise would make a repeated frame differ from the previous one.
  bool adds_noise = true;
};

/// Wraps `filter`, a session for frames of `format`, so that constant areas (constant_areas.h) are
/// preserved bit for bit. If the results have another sample format than the frames, the session
/// converts the areas as it converts unfiltered frames. Before filtering, the session replaces
/// foreign areas (PlaneAreas::foreign), so that they do not affect the results of other samples.
/// The search for areas depends only on the samples of the frame.
///
/// Frames in GPU memory are passed to the filter unchanged. The filter must return results in host
/// memory.
[[nodiscard]] std::unique_ptr<Denoiser> with_constant_areas(LevelsOfFrame levels,
                                                            const FrameFormat& format,
                                                            std::unique_ptr<Denoiser> filter,
                                                            const ResultSamples& results,
                                                            const AreaOptions& options);

}  // namespace lull
