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

/// Repeats the noise measurement of excerpts with large dark areas, without the dark areas. If the
/// noise outside the dark areas is stronger, the function replaces the variances and the selected
/// blocks of luma.
/// @param excerpts  excerpts of Y, Cb and Cr, or of grey frames
[[nodiscard]] DarkAreas exclude_dark_areas(std::span<ExcerptMeasurement> excerpts);

}  // namespace lull
