#pragma once
// The method that denoises the frames of a run, and its parameters.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "bm3d/bm3d.h"
#include "bm4d/bm4d.h"
#include "core/repeats.h"
#include "io/media.h"
#include "nlm/features/features.h"
#include "nlm/nlm.h"
#include "noise/areas/area_session.h"
#include "noise/depth/depth_scale.h"
#include "noise/volume/volume_levels.h"
#include "noise/volume/volume_noise.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct Method {
  bm3d::Params pictures;
  std::optional<bm4d::Params> volumes;  // if set, used instead of `pictures`
  std::optional<nlm::Params> means;     // non-local means; if set, used instead of both
  /// Rician or spatially varying noise of stacks, for the variance stabilisation before the filter.
  std::optional<VolumeNoise> volume_noise;
  /// Noise levels of the volumes of a series. Set only if the levels differ. The session then
  /// scales all volumes to a common noise level before the variance stabilisation.
  std::optional<VolumeLevels> volume_levels;
  // Scale of depth maps, for the variance stabilisation before the filter.
  std::optional<DepthScale> depth;
  /// The given noise level and strength for a render with feature buffers; otherwise empty.
  std::optional<RenderNoise> render;
  bool preserves_areas = true;  // whether constant areas are preserved
  std::int64_t frames = 0;      // expected number of frames; 0: unknown
  std::int64_t memory = 0;  // limit of host memory for the job in bytes; 0: half of the free memory

  Method() = default;
  Method(bm3d::Params params) : pictures(std::move(params)) {}
  explicit Method(const bm4d::Params& params) : volumes(params) {}
  explicit Method(const nlm::Params& params) : means(params) {}
  /// Converts a `Method` to its parameters of BM3D, so that functions that open only BM3D sessions
  /// accept a `Method`.
  operator const bm3d::Params&() const { return pictures; }

  const NoiseModel& noise() const {
    return means ? means->noise : volumes ? volumes->noise : pictures.noise;
  }
  /// Returns whether the frames are slices of volumes.
  bool is_volume() const { return means ? means->is_volume() : volumes.has_value(); }
  /// Returns the temporal radius, or 0 for volumes.
  int temporal() const { return means ? means->temporal : volumes ? 0 : pictures.temporal; }
  /// Returns whether the filter uses patches of neighbouring frames.
  bool is_temporal() const { return temporal() > 0; }
  /// Turns off temporal filtering. Callers must turn off temporal filtering if the frames are not
  /// consecutive.
  void disable_temporal() {
    pictures.temporal = 0;
    if (means) means->temporal = 0;
  }
  /// Returns whether the device memory depends on the batch size of BM3D.
  bool has_batches() const { return !means && !volumes; }
};

/// Selects the method by the noise, the options and the kind of the input.
/// @throws InvalidArgument  the options contradict each other or do not apply to the input
[[nodiscard]] Method choose_method(const DenoiseOptions& options, const NoiseModel& noise,
                                   const io::VideoInfo& input);

/// Returns how many frames before and after a frame affect its result.
[[nodiscard]] Margin margin_of(const Method& method);
/// Opens a session on one device.
[[nodiscard]] std::unique_ptr<Denoiser> open_method(const Method& method, const FrameFormat& format,
                                                    const bm3d::Backend& backend);
/// Opens the detector of repeated frames. Returns null if the method does not distinguish repeated
/// frames.
[[nodiscard]] std::unique_ptr<RepeatFinder> open_repeat_finder(const Method& method,
                                                               const FrameFormat& format);

/// Returns the noise level of each plane for the search for constant areas, or 0 for planes that
/// the search omits.
[[nodiscard]] std::array<float, 3> levels_for_areas(const Method& method);

/// Returns whether the frame has constant areas that a session of the method preserves.
[[nodiscard]] bool has_constant_areas(const Method& method, const Frame& frame);

/// Returns a session that preserves constant areas and passes all other samples to `denoiser`, or
/// `denoiser` itself if the method preserves no areas. `levels` must return, for each frame, the
/// result of levels_for_areas() for the method that filters the frame.
[[nodiscard]] std::unique_ptr<Denoiser> preserve_areas(std::unique_ptr<Denoiser> denoiser,
                                                       const Method& method, LevelsOfFrame levels,
                                                       const FrameFormat& format,
                                                       const ResultSamples& results);
[[nodiscard]] std::unique_ptr<Denoiser> preserve_areas(std::unique_ptr<Denoiser> denoiser,
                                                       const Method& method,
                                                       const FrameFormat& format,
                                                       const ResultSamples& results);

}  // namespace lull::tools
