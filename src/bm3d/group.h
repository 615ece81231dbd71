#pragma once
// The contract between matching and filtering: a matcher gives a group for each reference patch, a
// filter takes it; they share nothing else. All backends keep to it:
// - The reference patch is the first member. The others follow by their distance from it in the
//   guide, those at equal distance by their place in the window, row by row. Only patches that lie
//   wholly in the picture and at a distance of at most tau count.
// - The number of members is a power of two: what is over is dropped from the far end.
// - The overall mean of a group (coefficient 0 of the group transform of the patches' coefficients
//   (0, 0)) is kept in the first phase, and counts as retained; its Wiener factor is 1.
// - Weights: 1 / retained coefficients, 1 / sum of the squared Wiener factors.

#include <array>
#include <cstdint>

#include "bm3d/params.h"

namespace lull::bm3d {

inline constexpr int max_group = 32;

/// Where a member lies, in samples from the reference patch: y in the high half, x in the low one.
constexpr std::uint32_t pack_displacement(int dx, int dy) {
  return static_cast<std::uint32_t>(dy) << 16 | (static_cast<std::uint32_t>(dx) & 0xffffu);
}
constexpr int displacement_x(std::uint32_t packed) {
  return static_cast<std::int16_t>(packed & 0xffffu);
}
constexpr int displacement_y(std::uint32_t packed) {
  return static_cast<std::int16_t>(packed >> 16);
}

struct Group {
  int count = 0;  // 1, 2, 4, .. max_group
  std::array<std::uint32_t, max_group> members;
};

/// Reference patches along an axis of `length` >= patch samples: every `step`-th, and always the
/// last, so that every sample is covered.
constexpr int reference_count(int length, int step) {
  return (length - patch + step - 1) / step + 1;
}
/// First sample of reference patch `index` of reference_count().
constexpr int reference_position(int index, int length, int step) {
  const int last = length - patch;
  return index * step < last ? index * step : last;
}

}  // namespace lull::bm3d
