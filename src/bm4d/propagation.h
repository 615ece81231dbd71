#pragma once
// If Params::reranks_groups() is true, the second phase of bm4d (Wiener filter) does not search
// windows. Instead, its candidates are members of nearby groups of the first phase (propagation,
// Barnes et al. 2009, PatchMatch).

// The candidates of a reference cube come from groups of the first phase: the group of the nearest
// reference cube, and the groups of the neighbours of this nearest cube. If two cubes are equally
// near, the cube with the lower position counts as the nearest.

// The group of the nearest cube gives up to 15 candidates. The group of a neighbour gives up to 8,
// 4 or 2 candidates if the neighbour is one grid step away along one, two or three axes
// (`members_listed`).

// Each listed member of a stored group gives one candidate. The displacement of this candidate from
// the current reference cube equals the displacement of the member from the reference cube of the
// stored group. The second phase skips duplicates, and candidates outside the search window or the
// volume.

// The new group contains the best candidates, by distance in the basic estimate, then by position
// in the search window.

// A reference cube of the second phase uses groups of the first phase whose reference cubes are at
// most list_reach() slices away along z. The margin of a session (margin() in params.h) contains
// all slices on which these groups depend.

// Cubes that the first phase skipped have no group.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bm4d/cubes.h"
#include "bm4d/volume_engine.h"

namespace lull::bm4d {

/// Maximum number of members of one stored group that become candidates. Element 0 applies to the
/// group of the nearest reference cube. Element n > 0 applies to the groups of the neighbours that
/// are one grid step away from this cube along n of the three axes.
inline constexpr std::array<int, 4> members_listed{15, 8, 4, 2};
/// Maximum number of candidates of a reference cube (members_listed): 15 + 6 * 8 + 12 * 4 + 8 * 2.
inline constexpr int max_listed = 127;

/// Returns the index of the reference cube nearest to a position along an axis.
constexpr int nearest_reference(int at, int length, int step, int cube) {
  const int count = reference_count(length, step, cube);
  const int i = at / step < count ? at / step : count - 1;
  if (i + 1 == count) return i;
  const int before = reference_position(i, length, step, cube);
  const int after = reference_position(i + 1, length, step, cube);
  return after - at < at - before ? i + 1 : i;
}

/// Converts a displacement (pack_offset()), -7..7 along each axis, to non-negative bytes for x, y
/// and z.
inline constexpr int min_displacement = -7;
constexpr std::uint32_t to_offset_bytes(std::uint32_t displacement) {
  return (displacement ^ 0x808080u) -
         0x010101u * static_cast<std::uint32_t>(0x80 + min_displacement);
}

/// The minimum and the maximum displacement of a cube along each axis. `low` and `high` have the
/// format of to_offset_bytes(): one byte for each axis.
struct DisplacementRange {
  std::uint32_t low = 0, high = 0;

  /// Returns the range of displacements along one axis. `before` and `after` are the numbers of
  /// valid positions before and after the cube.
  static constexpr DisplacementRange along(int axis, int radius, int before, int after) {
    const int from = before < radius ? -before : -radius, to = after < radius ? after : radius;
    return {static_cast<std::uint32_t>(from - min_displacement) << (8 * axis),
            static_cast<std::uint32_t>(to - min_displacement) << (8 * axis)};
  }
  constexpr DisplacementRange operator+(const DisplacementRange& other) const {
    return {low + other.low, high + other.high};
  }
  /// Returns whether the range contains a displacement. The function subtracts `low` from `bytes`,
  /// and `bytes` from `high`, for all three axes at once. Before each subtraction, it sets the top
  /// bit of each byte of the minuend, so that no borrow reaches the next byte. This bit remains 1
  /// if the byte's difference is not negative.
  constexpr bool has(std::uint32_t bytes) const {
    constexpr std::uint32_t upper = 0x808080u;
    return (((bytes | upper) - low) & ((high | upper) - bytes) & upper) == upper;
  }
};

/// A reference cube of the second phase uses groups of the first phase. Returns the maximum
/// distance along z, in slices, between this reference cube and the reference cubes of these
/// groups.
constexpr int list_reach(const Params& params) {
  return params.hard.radius() + params.wiener.radius();
}

/// Assigns depth() slots to layers of the first phase. A layer is the set of reference cubes with
/// the same z position. A new layer replaces the oldest layer.
class KeptLayers {
 public:
  /// `at_a_time` is the number of layers of reference cubes that a phase filters together.
  KeptLayers(const Params& params, int at_a_time);
  int depth() const { return static_cast<int>(layers_.size()); }
  void begin() { count_ = 0; }
  /// Returns the slot for the reference cubes at the position `z`. `z` must be greater than in all
  /// earlier calls.
  int add(int z);
  /// Finds the layer that is nearest to `z`. Returns the slots of three layers in ascending order
  /// of z: the nearest layer, and the layers before and after it. A slot is -1 if its layer is
  /// missing, or more than list_reach() slices away from `z`.
  std::array<int, 3> around(int z) const;

 private:
  std::vector<int> layers_;  // for each slot, the z position of its reference cubes
  int count_ = 0;
  int reach_;
};

/// The members of a group except the reference cube. Each element is the displacement of a member
/// from the reference cube (pack_offset()). Unused elements are 0.
using KeptList = std::array<std::uint32_t, members_listed[0]>;
[[nodiscard]] KeptList kept_list(const Group& group);

/// The groups of the first phase for one plane, on the host.
class KeptGroups {
 public:
  explicit KeptGroups(const VolumePlan& plan);
  void begin() { layers_.begin(); }
  /// Returns the memory for the groups of all reference cubes at the position `z`, row by row. All
  /// groups are empty.
  std::span<KeptList> add_layer(int z);
  /// Writes the candidates of a reference cube to `room`, and returns the written part of `room`.
  /// Each candidate occurs once. All candidates are inside the slices `available`.
  std::span<const std::uint32_t> candidates(int x, int y, int z, SliceSpan available,
                                            std::array<std::uint32_t, max_listed>& room) const;

 private:
  VolumePlan plan_;
  int columns_, rows_;
  KeptLayers layers_;
  std::vector<std::vector<KeptList>> groups_;
};

}  // namespace lull::bm4d
