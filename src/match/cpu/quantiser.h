#pragma once
// How the guides of the CPU's matchers become bytes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "match/cpu/kernels.h"
#include "match/guide_view.h"
#include "match/match_params.h"

namespace lull::cpu {

/// Largest score that can count: 16 bits saturate at one more.
inline constexpr float max_score = 65534;

/// Scratch, kept from frame to frame.
using SampleRanges = std::vector<std::array<float, 2>>;

/// The unit of the guides' bytes: samples must be within the range of a byte and, as far as noise
/// from rounding stays below a hundredth of the picture's own (unit^2 / 12 against sigma^2), tau
/// within the range of a score. Where it is not, patches beyond the largest score are too far.
/// `noise`: MatchInput::noise.
[[nodiscard]] Quantiser quantiser_of(const MatchParams& params, std::span<const GuideFrame> frames,
                                     float noise, SampleRanges& scratch);

/// Of a distance of 1.
[[nodiscard]] inline float scores_per_distance(const Quantiser& quantiser) {
  return patch * patch / (quantiser.unit * quantiser.unit);
}
/// A threshold, and what is added or taken off, as scores: `scores` for a distance of 1.
[[nodiscard]] inline std::uint16_t score_of(float distance, float scores) {
  return static_cast<std::uint16_t>(std::min(max_score, distance * scores));
}
[[nodiscard]] inline std::uint16_t rounded_score_of(float distance, float scores) {
  return static_cast<std::uint16_t>(std::min(max_score, distance * scores + 0.5f));
}

}  // namespace lull::cpu
