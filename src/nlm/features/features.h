#pragma once
// Non-local means of renders: weights from the light and its variance, pixel by pixel, and what the
// renderer knows of surfaces besides (noise/render/features.h). Each is blended with the other by
// what either is estimated to cost. formulas.h has the formulas; docs/measurements/renders.md what
// they are worth.

#include <memory>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "nlm/params.h"
#include "noise/render/light.h"
#include "time/frames.h"

namespace lull::nlm {

struct FeatureParams {
  RenderNoise noise;
  int search_radius = 6;  // candidates lie up to so many pixels away along x and y, 1..20: S
  int temporal = 0;       // R: candidates come from so many frames before and after, 0..8
  /// A frame begins a new scene where a greater share of it than this is not predicted by the
  /// frames before (frame_relation.h), 0..1; 0: never.
  float scene_cut = 0.5f;
};

/// S of a profile: what is told apart pixel by pixel wants wider windows than patches do.
[[nodiscard]] constexpr int feature_search_radius(Profile profile) {
  return profile == Profile::fast ? 5 : profile == Profile::high ? 10 : 6;
}

/// Opens a session for renders of one format: grey or RGB of floats, of any range. Each frame
/// brings what there is of features (Frame::features). Equal frames give equal bytes, whatever the
/// number of threads, and a part of a clip that is seen with the margin(params) around it gives
/// those of the whole.
/// @throws InvalidArgument     a parameter is outside its range, frames are no light
/// @throws DeviceUnavailable   this build or machine lacks the backend or device
/// @throws OutOfDeviceMemory   its memory is too small for the session
[[nodiscard]] std::unique_ptr<Denoiser> open_features(const FeatureParams& params,
                                                      const FrameFormat& format,
                                                      const Backend& backend);

/// How many frames before and after one its result depends on.
[[nodiscard]] Margin margin(const FeatureParams& params);
/// Finds what a session with these parameters would find.
[[nodiscard]] std::unique_ptr<RepeatFinder> open_repeat_finder(const FeatureParams& params,
                                                               const FrameFormat& format);
/// Bytes that a session on the host keeps of frames, roughly.
[[nodiscard]] double host_bytes(const FeatureParams& params, const FrameFormat& format);

}  // namespace lull::nlm
