#pragma once
// Measures the noise of clips in motion-compensated differences between consecutive frames.
// docs/how-it-works/noise-estimation.md describes the method and its accuracy.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/estimate/estimate.h"

namespace lull {

struct ClipMeasurement {
  /// If false, no two frames of an excerpt show one scene with independent noise, for example
  /// because they repeat one picture or are too small. The caller must then estimate the noise from
  /// single pictures.
  bool found = false;
  /// True if the frames are interlaced. All results then refer to the even rows, the top fields.
  bool from_fields = false;
  /// Noise variances of the coefficients in the planes that are filtered: Y, Cb and Cr, or, for
  /// RGB, Y, U and V of the opponent space. A table of zeros: no independent noise.
  std::array<CoefficientTable, 3> tables{};
  /// Standard deviation of the noise in each plane, computed from the tables.
  std::array<float, 3> level{};
  /// Noise level of luma in each excerpt; 0 if an excerpt has no measurement.
  std::vector<float> excerpt_level;
  /// Noise level of luma as a function of brightness, constant outside the observed brightnesses;
  /// null: unknown, or it does not vary.
  std::shared_ptr<const NoiseCurve> curve;
  /// Noise level of each plane in 16 ranges of the first plane's brightness. Ranges with too few
  /// blocks are omitted.
  std::array<std::vector<LevelAtLuma>, 3> by_luma{};
};

/// Measures excerpts. Excerpts of one frame contribute nothing. All frames must have one format and
/// be in host memory.
[[nodiscard]] ClipMeasurement measure_clip(std::span<const Excerpt> excerpts);

/// Returns true if noise with these variances is nearly white. Filters for white noise are better
/// and faster than filters for coloured noise, and a measured table is never exactly flat.
[[nodiscard]] bool counts_as_white(const CoefficientTable& variances);

/// Returns the noise for filters, computed from a measurement that found noise. `layout` is the
/// layout of the frames.
[[nodiscard]] NoiseEstimate estimate_of(const ClipMeasurement& measured, Layout layout);

}  // namespace lull
