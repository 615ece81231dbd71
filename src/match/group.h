#pragma once
// Defines groups. The matcher makes one group for each reference patch, and the filter processes
// the group. All backends follow the rules below.

// Order of a group: the reference patch is the first member. The other members follow by their
// distance from the reference patch in the guide. Members at equal distance are ordered by frame,
// and then by position in the search window, row by row.

// Order of frames: the reference frame, then the frame before it, the frame after it, the second
// frame before it, and so on.

// Candidates lie completely inside the picture and at a distance of at most tau. A patch that
// overlaps a hole (noise/holes.h) may be a reference patch, but not a candidate.

// In a neighbouring frame, the search window is centred on the position that motion predicts: the
// position of the reference patch plus the motion vector of its bundle (motion_grid.h). Before any
// comparison, MatchParams::motion_bias is subtracted from the distance of the patch at the centre,
// down to 0.

// Bias for coloured noise: the noise of two patches of one frame adds 2 sigma^2 (1 - rho) to their
// distance, where rho is the correlation of the noise at their displacement. White noise adds 2
// sigma^2. Before any comparison, the first phase adds the difference 2 sigma^2 rho
// (MatchParams::bias) to the distance, and clamps the result to at least 0.

// The number of members of a group is a power of two: the members with the largest distances are
// dropped. With MatchParams::any_size, no member is dropped.

// The overall mean of a group is coefficient 0 of the group transform of the patches' (0, 0)
// coefficients. The first phase always retains the overall mean, and counts it as retained. In the
// second phase, its Wiener factor is 1.

// The weight of a group is 1 / (number of retained coefficients) in the first phase, and 1 / (sum
// of the squared Wiener factors) in the second phase. For coloured noise, the term of each
// coefficient in these sums is multiplied by the variance of its noise in units of sigma^2.

// The estimate of each member of a group is added to the frame that contains the member.

#include <array>
#include <cstdint>

namespace lull {

inline constexpr int max_group = 32;
/// Maximum group size if MatchParams::any_size is set. If any_size is not set, group sizes are
/// powers of two up to `max_group`.
inline constexpr int max_large_group = 64;

/// Packs the displacement of a member from the reference patch. `dx` and `dy` are in samples. `dt`
/// is the number of frames after the reference frame, as the class Timeline counts frames. Bits
/// 0..11 contain x, bits 12..23 y, and bits 24..31 the time.
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
  // Number of members: a power of two up to `max_group`. With MatchParams::any_size, all numbers up
  // to `max_large_group` are possible.
  int count = 0;
  std::array<std::uint32_t, max_large_group> members;
};

}  // namespace lull
