#pragma once
// Measures the noise of clips in motion-compensated differences between consecutive frames
// (docs/how-it-works/noise-estimation.md).

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/estimate/estimate.h"

namespace lull {

struct ClipMeasurement {
  /// False if no two frames of an excerpt show one scene with independent noise. The caller must
  /// then estimate from still pictures.
  bool found = false;
  /// True for interlaced frames, whose results are for the top fields (even rows).
  bool from_fields = false;
  /// Noise variances of the DCT coefficients of Y, Cb and Cr, or for RGB, of the three planes of
  /// the opponent space. If all variances are 0, the frames contain no noise that changes from
  /// frame to frame.
  std::array<CoefficientTable, 3> tables{};
  /// Standard deviation of the noise in each plane, computed from `tables`.
  std::array<float, 3> level{};
  /// NoiseEstimate::has_dark_areas and NoiseEstimate::share_in_all_areas.
  bool has_dark_areas = false;
  float share_in_all_areas = 1;
  /// Noise level of luma in each excerpt. The value 0 means that the excerpt has no measurement.
  std::vector<float> excerpt_level;
  /// Noise level of luma as a function of brightness, constant outside the observed range. Null:
  /// unknown, or nearly constant.
  std::shared_ptr<const NoiseCurve> curve;
  /// Noise level of each plane in 16 ranges of the first plane's brightness. Ranges with too few
  /// blocks have no element.
  std::array<std::vector<LevelAtLuma>, 3> by_luma{};
};

/// Measures the noise of excerpts of at least two frames. All frames must have one format and be in
/// host memory.
[[nodiscard]] ClipMeasurement measure_clip(std::span<const Excerpt> excerpts);

/// Returns whether the noise is nearly white. For nearly white noise, filters for white noise are
/// better and faster than filters for coloured noise.
[[nodiscard]] bool counts_as_white(const CoefficientTable& variances);

/// Converts a measurement to a noise estimate. ClipMeasurement::found must be true.
[[nodiscard]] NoiseEstimate estimate_of(const ClipMeasurement& measured, Layout layout);

}  // namespace lull
