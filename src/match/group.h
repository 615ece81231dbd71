#pragma once
// The contract between matching and filtering: a matcher gives a group for each reference patch, a
// filter takes it; they share nothing else. All backends keep to it:
// - The reference patch is the first member. The others follow by their distance from it in the
//   guide, those at equal distance by their frame (the reference patch's own, then 1 before it, 1
//   after it, 2 before it, ..) and their place in the window, row by row. Only patches that lie
//   wholly in the picture and at a distance of at most tau count.
// - A patch that reaches into a hole (noise/holes.h) is no candidate; it may be a reference patch.
// - In another frame the window lies around the place that motion predicts: the reference patch's
//   own plus the vector of its bundle (motion_grid.h). From the distance of the patch right there,
//   MatchParams::place_bonus is taken off, down to 0, before it is compared with anything.
// - Noise that is not white makes patches of one frame look alike that lie near each other: it
//   adds 2 sigma^2 (1 - rho) to their distance, where rho is its correlation at their displacement,
//   instead of 2 sigma^2. The difference, MatchParams::bias, is added to the distance in the first
//   phase, down to 0, before it is compared with anything.
// - The number of members is a power of two: what is over is dropped from the far end.
// - The overall mean of a group (coefficient 0 of the group transform of the patches' coefficients
//   (0, 0)) is kept in the first phase, and counts as retained; its Wiener factor is 1.
// - Weights: 1 / retained coefficients, 1 / sum of the squared Wiener factors; where noise is not
//   white each coefficient counts as much as its noise has variance, in units of sigma^2.
// - The estimate of each member is added to the member's own frame.

#include <array>
#include <cstdint>

namespace lull {

inline constexpr int max_group = 32;

/// Where a member lies: in samples from the reference patch, and in frames after the reference
/// patch's (those that Timeline counts). From bit 0 on x in 12 bits, y in 12, time in 8.
constexpr std::uint32_t pack_displacement(int dx, int dy, int dt = 0) {
  return static_cast<std::uint32_t>(dt) << 24 | (static_cast<std::uint32_t>(dy) & 0xfffu) << 12 |
         (static_cast<std::uint32_t>(dx) & 0xfffu);
}
constexpr int displacement_x(std::uint32_t packed) {
  return static_cast<std::int32_t>(packed << 20) >> 20;
}
constexpr int displacement_y(std::uint32_t packed) {
  return static_cast<std::int32_t>(packed << 8) >> 20;
}
constexpr int displacement_t(std::uint32_t packed) {
  return static_cast<std::int32_t>(packed) >> 24;
}

struct Group {
  int count = 0;  // 1, 2, 4, .. max_group
  std::array<std::uint32_t, max_group> members;
};

}  // namespace lull
