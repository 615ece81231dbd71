#pragma once
// The second phase without a search (Params::second_search). The groups of the first phase are good
// candidates for the second phase and for nearby cubes (propagation, Barnes et al. 2009,
// PatchMatch). All backends follow these rules:
//
// - A reference cube of the second phase tests the groups of the nearest reference cube of the
//   first phase and of its neighbours on that grid, without the first members. It tests
//   `members_listed` members of each, depending on the number of axes along which the cube is a
//   neighbour. If two cubes are equally near along an axis, the nearest is the one before.
// - Displacements of members are applied unchanged. Those outside the second phase's window or
//   outside the volume are not candidates. Each candidate counts once.
// - The group is the result of a search among these candidates, ordered by distance in the basic
//   estimate, then by position in the window.
// - Layers of the first phase count only within list_reach(), which the margin covers, so that
//   parts of a volume use the same groups as the complete volume. Cubes that the first phase
//   skipped have no group.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bm4d/cubes.h"
#include "bm4d/volume_engine.h"

namespace lull::bm4d {

/// Number of tested members of the nearest cube's group, and of the groups of its neighbours along
/// one, two and three axes.
inline constexpr std::array<int, 4> members_listed{15, 8, 4, 2};
/// Maximum number of tested members of a cube: 15 + 6 * 8 + 12 * 4 + 8 * 2.
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

/// Displacements as bytes from 0 on, along x, y and z (pack_offset). Displacements are within
/// -7..7.
inline constexpr int min_displacement = -7;
constexpr std::uint32_t to_offset_bytes(std::uint32_t displacement) {
  return (displacement ^ 0x808080u) -
         0x010101u * static_cast<std::uint32_t>(0x80 + min_displacement);
}

/// The range of displacements that a cube may have along each axis, as bytes of to_offset_bytes().
struct DisplacementRange {
  std::uint32_t low = 0, high = 0;

  /// Returns the range along one axis. `before` and `after` are the numbers of positions in the
  /// volume on either side.
  static constexpr DisplacementRange along(int axis, int radius, int before, int after) {
    const int from = before < radius ? -before : -radius, to = after < radius ? after : radius;
    return {static_cast<std::uint32_t>(from - min_displacement) << (8 * axis),
            static_cast<std::uint32_t>(to - min_displacement) << (8 * axis)};
  }
  constexpr DisplacementRange operator+(const DisplacementRange& other) const {
    return {low + other.low, high + other.high};
  }
  /// Returns whether the range contains a displacement. Each byte of the differences is computed
  /// with its top bit set. This bit remains if the difference is not negative.
  constexpr bool has(std::uint32_t bytes) const {
    constexpr std::uint32_t upper = 0x808080u;
    return (((bytes | upper) - low) & ((high | upper) - bytes) & upper) == upper;
  }
};

/// Returns the maximum distance between a layer of the second phase and the layers of the first
/// phase whose groups it uses.
constexpr int list_reach(const Params& params) {
  return params.hard.radius() + params.wiener.radius();
}

/// Tracks which layers of the first phase are kept, and in which of depth() slots each is stored.
/// Slots are reused in turn.
class KeptLayers {
 public:
  /// `at_a_time`: number of layers that a phase filters together.
  KeptLayers(const Params& params, int at_a_time);
  int depth() const { return static_cast<int>(layers_.size()); }
  void begin() { count_ = 0; }
  /// Returns the slot of a new layer. Layers must ascend.
  int add(int z);
  /// Returns the slots of the layer before the nearest, of the nearest, and of the layer after it;
  /// -1 if a layer is missing.
  std::array<int, 3> around(int z) const;

 private:
  std::vector<int> layers_;  // slice of each slot's layer
  int count_ = 0;
  int reach_;
};

/// Members of a group except for the first. Unused elements are 0, the displacement of the
/// reference cube itself.
using KeptList = std::array<std::uint32_t, members_listed[0]>;
[[nodiscard]] KeptList kept_list(const Group& group);

/// The first phase's groups of one plane, on the host.
class KeptGroups {
 public:
  explicit KeptGroups(const VolumePlan& plan);
  void begin() { layers_.begin(); }
  /// Returns the memory for the lists of a layer, row by row. All lists are empty.
  std::span<KeptList> add_layer(int z);
  /// Lists the candidates of a cube of the second phase, each once and without the cube itself.
  /// Only the slices `available` exist. The result is stored in `room`.
  std::span<const std::uint32_t> candidates(int x, int y, int z, SliceSpan available,
                                            std::array<std::uint32_t, max_listed>& room) const;

 private:
  VolumePlan plan_;
  int columns_, rows_;
  KeptLayers layers_;
  std::vector<std::vector<KeptList>> groups_;
};

}  // namespace lull::bm4d
