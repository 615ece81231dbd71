#pragma once
// The noise outside the dark areas of a clip.

// Dark areas have less noise than other areas. Cameras clip the noise of R, G and B at black, and
// encoders remove the noise of flat areas. In clips with large dark areas, the dark blocks would
// determine a noise level that is too low for the rest of the picture.

#include <span>

#include "noise/estimate/excerpt_measurement.h"

namespace lull {

struct DarkAreas {
  /// True if dark areas are large in most excerpts.
  bool are_large = false;
  /// The noise level of luma in all areas, divided by the noise level outside dark areas. 1 if the
  /// measurement of luma did not change.
  float share_in_all_areas = 1;
};

/// Measures the noise of excerpts with large dark areas again, outside the dark areas. If the noise
/// is stronger there, the function replaces the variances, and the selected blocks of luma.
/// @param excerpts  excerpts of Y, Cb and Cr, or of grey frames
[[nodiscard]] DarkAreas exclude_dark_areas(std::span<ExcerptMeasurement> excerpts);

}  // namespace lull
