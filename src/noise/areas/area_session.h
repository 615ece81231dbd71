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
  /// If true, noise is added to the values that replace areas. Without noise, smooth patches would
  /// match these values only because the values are smooth. Filters that compare frames need values
  /// without noise, because noise would make a repeated frame differ from the previous frame.
  bool adds_noise = true;
};

/// Wraps `filter`, a session for frames of `format`, so that constant areas (constant_areas.h) are
/// preserved bit for bit. If the samples of `results` differ from the samples of the frames, the
/// areas are converted exactly as unfiltered frames are. The filter gets a copy of the frame in
/// which foreign areas (PlaneAreas::foreign) are replaced, so that they do not affect the results
/// of other samples. The decisions depend only on the samples of the frame.
///
/// Frames in GPU memory are passed to the filter unchanged. The filter must return results in host
/// memory.
[[nodiscard]] std::unique_ptr<Denoiser> with_constant_areas(LevelsOfFrame levels,
                                                            const FrameFormat& format,
                                                            std::unique_ptr<Denoiser> filter,
                                                            const ResultSamples& results,
                                                            const AreaOptions& options);

}  // namespace lull
