#pragma once
// Groups of similar patches, one for each reference patch. All backends follow the rules below.

// Order of members: the reference patch comes first. The other members are sorted by their distance
// in the guide, then by frame, and then by their position in the search window, row by row.

// Order of frames: the reference frame, one frame before, one frame after, two frames before, two
// frames after, and so on.

// A candidate is a patch inside the picture whose distance (the mean squared difference from the
// reference patch in the guide) is at most MatchParams::tau. The reference patch may overlap a hole
// (noise/holes.h), but a candidate must not.

// In a neighbouring frame, the centre of the search window is the position of the reference patch
// plus the motion vector of its bundle (8x4 reference patches, motion_grid.h).

// In a neighbouring frame, the motion vector points to the patch at the centre of the search
// window. The matcher subtracts MatchParams::motion_bias from the distance of this patch, and
// clamps negative results to 0.

// Bias for coloured noise: the first phase adds the bias 2 * sigma^2 * rho (MatchParams::bias) to
// distances in the reference frame, and clamps negative results to 0. rho is the correlation of the
// noise of two patches.

// A group has at most MatchParams::group members, and its size is a power of two. The matcher
// therefore removes the most distant members until the size is a power of two.

// The overall mean of a group is coefficient 0 of the group transform of the DC coefficients. The
// first phase always retains this coefficient. In the second phase, the Wiener factor of this
// coefficient is 1.

// The weight of a group is 1 / (number of retained coefficients) in the first phase, and 1 / (sum
// of the squared Wiener factors) in the second phase.

// For coloured noise, the weight of a group is 1 divided by a sum with one term for each
// coefficient: the term for white noise, multiplied by the noise variance of the coefficient in
// units of sigma^2.

// Aggregation adds the estimate of each member to the frame of the member.

#include <array>
#include <cstdint>

namespace lull {

inline constexpr int max_group = 32;  // maximum number of members

/// Packs the displacement of a member. Bits 0..11 contain the displacement along x and bits 12..23
/// the displacement along y, both in samples. Bits 24..31 contain the displacement in time, in
/// frames of the class Timeline.
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
  int count = 0;  // number of members: a power of two
  std::array<std::uint32_t, max_group> members;
};

}  // namespace lull
