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
  /// If false, no two frames of an excerpt show one scene with independent noise, for example
  /// because the frames repeat one picture or are too small. The caller must then estimate the
  /// noise from still pictures.
  bool found = false;
  /// True if the frames are interlaced. All results are then for the top fields, which are the even
  /// rows.
  bool from_fields = false;
  /// Noise variances of the coefficients in each filtered plane: in Y, Cb and Cr, or, for RGB, in
  /// Y, U and V of the opponent space. If a plane has no independent noise, all its variances are
  /// 0.
  std::array<CoefficientTable, 3> tables{};
  /// Standard deviation of the noise in each plane, computed from the tables.
  std::array<float, 3> level{};
  /// Noise level of luma in each excerpt. 0: the excerpt has no measurement.
  std::vector<float> excerpt_level;
  /// Noise level of luma as a function of brightness, constant outside the observed brightnesses.
  /// Null: the noise level is unknown or nearly constant.
  std::shared_ptr<const NoiseCurve> curve;
  /// Noise level of each plane in 16 ranges of the first plane's brightness. A range with too few
  /// blocks has no element.
  std::array<std::vector<LevelAtLuma>, 3> by_luma{};
};

/// Measures the noise of excerpts. Excerpts of one frame contribute nothing. All frames must have
/// one format and be in host memory.
[[nodiscard]] ClipMeasurement measure_clip(std::span<const Excerpt> excerpts);

/// Returns whether noise with these variances is nearly white. A measured table is never exactly
/// flat. For nearly white noise, filters for white noise are better and faster than filters for
/// coloured noise.
[[nodiscard]] bool counts_as_white(const CoefficientTable& variances);

/// Returns the noise that filters remove, computed from a measurement in which noise was found.
/// `layout` is the layout of the frames.
[[nodiscard]] NoiseEstimate estimate_of(const ClipMeasurement& measured, Layout layout);

}  // namespace lull
