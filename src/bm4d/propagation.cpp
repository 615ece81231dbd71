#include "bm4d/propagation.h"

#include <algorithm>
#include <bitset>
#include <cstdlib>

namespace lull::bm4d {
namespace {

/// Packs the three bytes of to_offset_bytes(), each below 16, into 12 bits.
constexpr std::uint32_t bits_of(std::uint32_t bytes) {
  return (bytes & 0xf) | (bytes >> 4 & 0xf0) | (bytes >> 8 & 0xf00);
}

/// Returns the number of layers by which the second phase lags behind the first phase. A layer is
/// the set of reference cubes with the same z position.
int depth_of(const Params& p, int at_a_time) {
  const int slices = 2 * list_reach(p) + 2 * max_cube + at_a_time * (p.hard.step + p.wiener.step);
  return slices / p.hard.step + 3;
}

}  // namespace

KeptLayers::KeptLayers(const Params& params, int at_a_time)
    : layers_(depth_of(params, at_a_time)), reach_(list_reach(params)) {}

int KeptLayers::add(int z) {
  const int place = count_++ % depth();
  layers_[place] = z;
  return place;
}

std::array<int, 3> KeptLayers::around(int z) const {
  const int first = std::max(0, count_ - depth());
  const auto away = [&](int i) { return std::abs(layers_[i % depth()] - z); };
  int nearest = first;
  for (int i = first; i < count_; ++i)
    if (away(i) < away(nearest)) nearest = i;
  const auto place = [&](int i) {
    return i >= first && i < count_ && away(i) <= reach_ ? i % depth() : -1;
  };
  if (place(nearest) < 0) return {-1, -1, -1};
  return {place(nearest - 1), place(nearest), place(nearest + 1)};
}

KeptList kept_list(const Group& group) {
  KeptList list{};
  const std::size_t count = std::min<std::size_t>(group.count - 1, list.size());
  std::copy_n(group.members.begin() + 1, count, list.begin());
  return list;
}

KeptGroups::KeptGroups(const VolumePlan& plan)
    : plan_(plan),
      columns_(reference_count(plan.width, plan.params.hard.step, plan.params.hard.cube)),
      rows_(reference_count(plan.height, plan.params.hard.step, plan.params.hard.cube)),
      layers_(plan.params, 1),
      groups_(layers_.depth()) {}

std::span<KeptList> KeptGroups::add_layer(int z) {
  std::vector<KeptList>& groups = groups_[layers_.add(z)];
  groups.assign(static_cast<std::size_t>(columns_) * rows_, KeptList{});
  return groups;
}

std::span<const std::uint32_t> KeptGroups::candidates(
    int x, int y, int z, SliceSpan available, std::array<std::uint32_t, max_listed>& room) const {
  const PhaseParams &first = plan_.params.hard, &p = plan_.params.wiener;
  const int i = nearest_reference(x, plan_.width, first.step, first.cube);
  const int j = nearest_reference(y, plan_.height, first.step, first.cube);
  const std::array<int, 3> layers = layers_.around(z);
  const int radius = p.radius();
  const DisplacementRange range =
      DisplacementRange::along(0, radius, x, plan_.width - p.cube - x) +
      DisplacementRange::along(1, radius, y, plan_.height - p.cube - y) +
      DisplacementRange::along(2, radius, z - available.first, available.end - p.cube - z);
  std::bitset<1 << 12> seen;
  seen[bits_of(to_offset_bytes(0))] = true;
  std::size_t count = 0;
  // add() tests for duplicate candidates without a branch, because the CPU could not predict the
  // branch.
  const auto add = [&](std::uint32_t member) {
    const std::uint32_t bytes = to_offset_bytes(member);
    auto known = seen[bits_of(bytes)];
    room[count] = member;
    count += static_cast<std::size_t>(range.has(bytes)) & static_cast<std::size_t>(!known);
    known = true;
  };
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        if (layers[dz + 1] < 0 || i + dx < 0 || i + dx >= columns_ || j + dy < 0 || j + dy >= rows_)
          continue;
        const KeptList& list = groups_[layers[dz + 1]][(j + dy) * columns_ + i + dx];
        const int most = members_listed[std::abs(dx) + std::abs(dy) + std::abs(dz)];
        for (int m = 0; m < most; ++m) add(list[m]);
      }
  return {room.data(), count};
}

}  // namespace lull::bm4d
