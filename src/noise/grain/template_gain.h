#pragma once
// How strong a decoder's grain becomes: it filters white noise of a known level into a template
// (AV1 bitstream specification, section 7.18.3.3), which all blocks of a picture are cut from.

#include <array>

#include "noise/grain/grain_table.h"
#include "noise/grain/statistics.h"

namespace lull {

/// Of the templates of one scene.
struct TemplateGain {
  /// Standard deviation of the grain of a plane over that of the white noise, in the part of the
  /// template that is used.
  std::array<double, 3> gain{1, 1, 1};
  /// Correlations of the grain of each plane, as far as the filters reach (pair_index).
  std::array<std::array<double, pair_lags>, 3> correlation{};
  /// No filter builds up: what a sample adds has died away at the template's end.
  bool stable = true;
};

/// @param planes  1 or 3
/// @param shift_x, shift_y  log2 of the subsampling of chroma
[[nodiscard]] TemplateGain template_gain(const GrainParams& grain, int planes, int shift_x,
                                         int shift_y);

}  // namespace lull
