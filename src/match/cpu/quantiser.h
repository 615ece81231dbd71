#pragma once
// Quantisation of the guides to bytes, for the matchers on the CPU.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "match/cpu/kernels.h"
#include "match/guide_view.h"
#include "match/match_params.h"

namespace lull::cpu {

/// Maximum score of a candidate. Scores saturate at 65535.
inline constexpr float max_score = 65534;

/// Scratch memory for the minimum and the maximum sample of each row.
using SampleRanges = std::vector<std::array<float, 2>>;

/// Chooses the unit (quantisation step) of the quantised guides. With this unit, all samples fit in
/// a byte. The function increases the unit up to a third of `noise` if the score of the match
/// threshold `tau` would not fit in 16 bits with a smaller unit.
[[nodiscard]] Quantiser quantiser_of(const MatchParams& params, std::span<const GuideAt> frames,
                                     float noise, SampleRanges& scratch);

/// Returns the score of a patch whose distance is 1. The score is proportional to the distance.
[[nodiscard]] inline float scores_per_distance(const Quantiser& quantiser) {
  return patch * patch / (quantiser.unit * quantiser.unit);
}
/// Converts a distance, for example a threshold or a bias, to a score. The factor `scores` is the
/// result of scores_per_distance().
[[nodiscard]] inline std::uint16_t score_of(float distance, float scores) {
  return static_cast<std::uint16_t>(std::min(max_score, distance * scores));
}
[[nodiscard]] inline std::uint16_t rounded_score_of(float distance, float scores) {
  return static_cast<std::uint16_t>(std::min(max_score, distance * scores + 0.5f));
}

}  // namespace lull::cpu
