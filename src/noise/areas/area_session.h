#pragma once
// A session that preserves constant areas.

#include <array>
#include <functional>
#include <memory>

#include "core/denoiser.h"

namespace lull {

/// Returns the noise level of each plane of a frame, on the 0..255 scale. 0: the session does not
/// search the plane for constant areas.
using LevelsOfFrame = std::function<std::array<float, 3>(const Frame&)>;

struct AreaOptions {
  bool are_slices = false;  // whether the frames are slices of volumes
  /// If true, the samples that replace a constant area get noise. Without this noise, they would
  /// match patches in smooth parts of the frame too well. Must be false for filters that detect
  /// repeated frames, because repeated frames must remain equal.
  bool adds_noise = true;
};

/// Makes a session that preserves constant areas (constant_areas.h) bit for bit. The results of
/// `filter` must be in host memory. The session does not search input frames in GPU memory for
/// constant areas.
[[nodiscard]] std::unique_ptr<Denoiser> with_constant_areas(LevelsOfFrame levels,
                                                            const FrameFormat& format,
                                                            std::unique_ptr<Denoiser> filter,
                                                            const ResultSamples& results,
                                                            const AreaOptions& options);

}  // namespace lull
