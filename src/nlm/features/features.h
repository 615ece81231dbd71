#pragma once
// Non-local means of renders. The filter processes the demodulated illumination: the picture
// divided by its albedo. The weights of the first result depend on the demodulated illumination and
// its variance, pixel by pixel. The second result also uses features of surfaces that the renderer
// provides (noise/render/features.h). The filter blends both results according to their estimated
// errors (formulas.h).

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
  /// Threshold for scene cuts, 0..1: a frame begins a new scene if more than this share of the
  /// frame cannot be predicted from the previous frames (frame_relation.h). 0: there are no scene
  /// cuts.
  float scene_cut = 0.5f;
};

/// Returns the search radius S of a profile for renders with features. It is larger than for other
/// pictures, because weights of single pixels are more selective.
[[nodiscard]] constexpr int feature_search_radius(Profile profile) {
  return profile == Profile::fast                               ? 5
         : profile == Profile::high || profile == Profile::best ? 10
                                                                : 6;
}

/// Opens a session for renders of one format: grey or RGB of floats, of any range. Each frame has
/// the available features (Frame::features). Results are bit-identical for every number of threads.
/// A part of a clip that is filtered with the margin(params) around it gives the results of the
/// complete clip.
/// @throws InvalidArgument  a parameter is outside its range, or frames are not RGB or grey floats
/// @throws DeviceUnavailable  this build or machine lacks the backend or device
/// @throws OutOfDeviceMemory  the memory of the device is too small for the session
[[nodiscard]] std::unique_ptr<Denoiser> open_features(const FeatureParams& params,
                                                      const FrameFormat& format,
                                                      const Backend& backend);

/// Returns the number of frames before and after a frame on which the result of the frame depends.
[[nodiscard]] Margin margin(const FeatureParams& params);
/// Opens a detector of repeated frames. It gives the same results as the detection in a session
/// with these parameters.
[[nodiscard]] std::unique_ptr<RepeatFinder> open_repeat_finder(const FeatureParams& params,
                                                               const FrameFormat& format);
/// Returns the approximate size, in bytes, of the frames that a session on the host stores.
[[nodiscard]] double host_bytes(const FeatureParams& params, const FrameFormat& format);

}  // namespace lull::nlm
