#pragma once
// Non-local means of renders, on the demodulated illumination (the picture divided by its albedo).
// The filter computes two results and blends them by their estimated errors (formulas.h).

// The first result of the filter is a weighted mean. The second result comes from a weighted local
// regression, which also uses surface features from the renderer (noise/render/features.h). The
// weights depend on the illumination and its variance.

#include <memory>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "nlm/params.h"
#include "noise/render/light.h"
#include "time/frames.h"

namespace lull::nlm {

struct FeatureParams {
  RenderNoise noise;
  // Search radius S: the maximum distance of candidates along x and y, 1..20 pixels.
  int search_radius = 6;
  int temporal = 0;  // temporal radius R: number of neighbouring frames before and after, 0..8
  /// Threshold for scene cuts, 0..1. A frame begins a new scene if previous frames fail to predict
  /// more than this share of the frame (frame_relation.h). The value 0 disables scene cuts.
  float scene_cut = 0.5f;
};

/// Returns the search radius S of a profile for renders with features. The radius is larger than
/// for pictures, because the weights are more selective.
[[nodiscard]] constexpr int feature_search_radius(Profile profile) {
  return profile == Profile::fast                               ? 5
         : profile == Profile::high || profile == Profile::best ? 10
                                                                : 6;
}

/// Opens a session for renders: RGB or grey floats of any range, with Frame::features. The results
/// are bit-identical for any number of threads. A session for a part of a clip also needs
/// margin(params) frames around the part.
/// @throws InvalidArgument  a parameter is out of range, or the samples are not RGB or grey floats
/// @throws DeviceUnavailable, OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<Denoiser> open_features(const FeatureParams& params,
                                                      const FrameFormat& format,
                                                      const Backend& backend);

/// Returns the margin of a session: the result of a frame depends on `before` earlier frames and on
/// `after` later frames.
[[nodiscard]] Margin margin(const FeatureParams& params);
/// Opens a detector of repeated frames. The detector gives the same results as a session with the
/// same parameters.
[[nodiscard]] std::unique_ptr<RepeatFinder> open_repeat_finder(const FeatureParams& params,
                                                               const FrameFormat& format);
/// Returns the approximate number of bytes that a session on the host uses for frames.
[[nodiscard]] double host_bytes(const FeatureParams& params, const FrameFormat& format);

}  // namespace lull::nlm
