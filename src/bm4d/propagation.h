#pragma once
// Without a second search (Params::second_search): what was found in the first phase is good for
// the second, too, for cubes nearby as well (propagation, Barnes et al. 2009, PatchMatch). What the
// backends agree on:
//
// - A reference cube of the second phase looks at the groups of the nearest reference cube of the
//   first phase and of those around it on that grid, less the first members: `listed` of each, by
//   how many axes they are away along. Of two as near along an axis the one before is the nearest.
// - Members are displacements, which are applied as they are. Those beyond the second phase's
//   window and outside of the volume are no candidates. What is listed more than once counts once.
// - The group is that of a search among these: by distance in the basic estimate, those at equal
//   distance by their place in the window.
// - Layers count within list_reach(): no farther than the margin tells, so that parts see those of
//   the whole. What was left out of the first phase has no group.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bm4d/cubes.h"
#include "bm4d/volume_engine.h"

namespace lull::bm4d {

/// Members of the nearest cube's group, and of those beside it along one, two and three axes.
inline constexpr std::array<int, 4> listed{15, 8, 4, 2};
/// A cube has so many at most: 15 + 6 * 8 + 12 * 4 + 8 * 2.
inline constexpr int most_listed = 127;

/// The reference cube that is nearest to a place of an axis.
constexpr int nearest_reference(int at, int length, int step, int cube) {
  const int count = reference_count(length, step, cube);
  const int i = at / step < count ? at / step : count - 1;
  if (i + 1 == count) return i;
  const int before = reference_position(i, length, step, cube);
  const int after = reference_position(i + 1, length, step, cube);
  return after - at < at - before ? i + 1 : i;
}

/// Displacements as bytes from 0 on, along x, y and z (pack_offset). None of them is beyond +-7.
inline constexpr int least_displacement = -7;
constexpr std::uint32_t from_least(std::uint32_t displacement) {
  return (displacement ^ 0x808080u) -
         0x010101u * static_cast<std::uint32_t>(0x80 + least_displacement);
}

/// The displacements that a cube may have along each axis, such bytes.
struct DisplacementRange {
  std::uint32_t low = 0, high = 0;

  /// `before`, `after`: places in the volume on either side.
  static constexpr DisplacementRange along(int axis, int radius, int before, int after) {
    const int from = before < radius ? -before : -radius, to = after < radius ? after : radius;
    return {static_cast<std::uint32_t>(from - least_displacement) << (8 * axis),
            static_cast<std::uint32_t>(to - least_displacement) << (8 * axis)};
  }
  constexpr DisplacementRange operator+(const DisplacementRange& other) const {
    return {low + other.low, high + other.high};
  }
  /// Differences of bytes with their upper bits set keep it where they are not negative.
  constexpr bool has(std::uint32_t bytes) const {
    constexpr std::uint32_t upper = 0x808080u;
    return (((bytes | upper) - low) & ((high | upper) - bytes) & upper) == upper;
  }
};

/// How far from a layer of the second phase those of the first lie whose groups count.
constexpr int list_reach(const Params& params) {
  return params.hard.radius() + params.wiener.radius();
}

/// Which layers of the first phase are kept, and where: each in one of depth() places in turn.
class KeptLayers {
 public:
  /// `at_a_time`: layers that a phase filters together.
  KeptLayers(const Params& params, int at_a_time);
  int depth() const { return static_cast<int>(layers_.size()); }
  void begin() { count_ = 0; }
  /// The place of a layer that comes after all others.
  int add(int z);
  /// The places of the layer before the nearest, the nearest and the one after it; -1: none.
  std::array<int, 3> around(int z) const;

 private:
  std::vector<int> layers_;  // their slices
  int count_ = 0;
  int reach_;
};

/// Members of a group but the first; 0 behind them, which is the reference cube itself.
using KeptList = std::array<std::uint32_t, listed[0]>;
[[nodiscard]] KeptList kept_list(const Group& group);

/// The first phase's groups of a plane on the host.
class KeptGroups {
 public:
  explicit KeptGroups(const VolumePlan& plan);
  void begin() { layers_.begin(); }
  /// Room for what is kept of a layer, row by row, without members yet.
  std::span<KeptList> add_layer(int z);
  /// What a cube of the second phase looks at, each once; not the cube itself. Of the slices only
  /// `there` exist.
  std::span<const std::uint32_t> candidates(int x, int y, int z, SliceSpan there,
                                            std::array<std::uint32_t, most_listed>& room) const;

 private:
  VolumePlan plan_;
  int columns_, rows_;
  KeptLayers layers_;
  std::vector<std::vector<KeptList>> groups_;
};

}  // namespace lull::bm4d
