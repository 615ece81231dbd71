#pragma once
// The second phase of BM4D without a search (Params::second_search). Members of a group of the
// first phase are good candidates for nearby cubes (propagation, Barnes et al. 2009, PatchMatch).
// All backends follow the rules below.

// The second phase takes the candidates of a reference cube from groups of the first phase: the
// group of the nearest reference cube, and the groups of its neighbours on the grid. If two cubes
// are equally near along an axis, the cube with the lower position counts as nearest.

// The group of the nearest reference cube provides the most candidates. Groups of its neighbours
// along one, two and three axes provide fewer candidates (`members_listed`). The reference cube of
// a stored group is not a candidate.

// A candidate of the second phase has the same displacement as the member of the stored group. A
// displacement beyond the search window of the second phase, or beyond the volume, gives no
// candidate. Each candidate counts once. The new group consists of the best candidates, in the
// order of their distances in the basic estimate, then of their positions in the search window.

// The second phase uses only layers of the first phase within list_reach(). If a session receives a
// part of a volume, the margin of the part includes this distance, so the part has the same groups
// as the complete volume. Cubes that the first phase skipped have no group.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bm4d/cubes.h"
#include "bm4d/volume_engine.h"

namespace lull::bm4d {

/// Number of members of a stored group that become candidates of a reference cube. Element n is for
/// a group whose cube is a neighbour of the nearest cube along n axes.
inline constexpr std::array<int, 4> members_listed{15, 8, 4, 2};
/// Maximum number of candidates of a reference cube: 15 + 6 * 8 + 12 * 4 + 8 * 2 (members_listed).
/// The nearest cube has 6, 12 and 8 neighbours along one, two and three axes.
inline constexpr int max_listed = 127;

/// Returns the index of the reference cube that is nearest to a position along an axis.
constexpr int nearest_reference(int at, int length, int step, int cube) {
  const int count = reference_count(length, step, cube);
  const int i = at / step < count ? at / step : count - 1;
  if (i + 1 == count) return i;
  const int before = reference_position(i, length, step, cube);
  const int after = reference_position(i + 1, length, step, cube);
  return after - at < at - before ? i + 1 : i;
}

/// Converts a displacement within -7..7 along each axis (pack_offset()) to non-negative bytes for
/// x, y and z.
inline constexpr int min_displacement = -7;
constexpr std::uint32_t to_offset_bytes(std::uint32_t displacement) {
  return (displacement ^ 0x808080u) -
         0x010101u * static_cast<std::uint32_t>(0x80 + min_displacement);
}

/// The range of displacements that a cube may have along each axis, in the bytes of
/// to_offset_bytes().
struct DisplacementRange {
  std::uint32_t low = 0, high = 0;

  /// Returns the range of displacements along one axis. `before` and `after` are the numbers of
  /// positions, before and after the cube, at which a cube fits in the volume.
  static constexpr DisplacementRange along(int axis, int radius, int before, int after) {
    const int from = before < radius ? -before : -radius, to = after < radius ? after : radius;
    return {static_cast<std::uint32_t>(from - min_displacement) << (8 * axis),
            static_cast<std::uint32_t>(to - min_displacement) << (8 * axis)};
  }
  constexpr DisplacementRange operator+(const DisplacementRange& other) const {
    return {low + other.low, high + other.high};
  }
  /// Returns whether the range contains a displacement. The function subtracts all three bytes at
  /// once. First, it sets the top bit of each byte of the minuend. If the difference of two bytes
  /// is not negative, the top bit stays set.
  constexpr bool has(std::uint32_t bytes) const {
    constexpr std::uint32_t upper = 0x808080u;
    return (((bytes | upper) - low) & ((high | upper) - bytes) & upper) == upper;
  }
};

/// Returns the maximum distance, in slices, at which a layer of the first phase provides candidates
/// for a layer of the second phase.
constexpr int list_reach(const Params& params) {
  return params.hard.radius() + params.wiener.radius();
}

/// Assigns depth() slots to stored layers of the first phase. A new layer replaces the oldest
/// layer.
class KeptLayers {
 public:
  /// `at_a_time` is the number of layers that a phase filters together.
  KeptLayers(const Params& params, int at_a_time);
  int depth() const { return static_cast<int>(layers_.size()); }
  void begin() { count_ = 0; }
  /// Returns the slot for a new layer. The layers of successive calls must ascend along z.
  int add(int z);
  /// Returns the slots of three successive layers of the first phase. The second layer is the layer
  /// that is nearest to slice `z`. The slot of a missing layer is -1.
  std::array<int, 3> around(int z) const;

 private:
  std::vector<int> layers_;  // for each slot, the first slice of its layer
  int count_ = 0;
  int reach_;
};

/// Members of a group, without the reference cube. Unused elements are 0, the displacement of the
/// reference cube.
using KeptList = std::array<std::uint32_t, members_listed[0]>;
[[nodiscard]] KeptList kept_list(const Group& group);

/// The groups of the first phase for one plane, on the host.
class KeptGroups {
 public:
  explicit KeptGroups(const VolumePlan& plan);
  void begin() { layers_.begin(); }
  /// Returns the memory for the groups of a new layer, row by row. All groups are empty.
  std::span<KeptList> add_layer(int z);
  /// Writes the candidates of a reference cube of the second phase to `room`, and returns the
  /// written part of `room`. The list contains each candidate once, and does not contain the
  /// reference cube itself. All candidates are in the slices `available`.
  std::span<const std::uint32_t> candidates(int x, int y, int z, SliceSpan available,
                                            std::array<std::uint32_t, max_listed>& room) const;

 private:
  VolumePlan plan_;
  int columns_, rows_;
  KeptLayers layers_;
  std::vector<std::vector<KeptList>> groups_;
};

}  // namespace lull::bm4d
