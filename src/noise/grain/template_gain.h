#pragma once
// Computes the level of the grain that AV1 decoders add. A decoder filters white noise into a
// template, and copies grain blocks from the template (AV1 bitstream specification, section
// 7.18.3.3).

#include <array>

#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// Properties of the grain templates of one scene.
struct TemplateGain {
  /// Standard deviation of each plane's grain in the used part of the template, relative to the
  /// standard deviation of the white noise.
  std::array<double, 3> gain{1, 1, 1};
  /// Autocorrelation of each plane's grain, in the order of pair_index().
  std::array<std::array<double, pair_lags>, 3> correlation{};
  /// If true, the impulse responses of all filters decay within the template.
  bool stable = true;
};

/// Simulates the synthesis of grain templates.
/// @param planes  1 or 3
/// @param shift_x, shift_y  log2 of the chroma subsampling
[[nodiscard]] TemplateGain template_gain(const GrainParams& grain, int planes, int shift_x,
                                         int shift_y);

}  // namespace lull
