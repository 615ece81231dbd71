#pragma once
// The groups of all reference patches of a picture.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/params.h"
#include "match/grid.h"

namespace lull::linear {

/// Displacement of a candidate from its reference patch, in samples.
struct Displacement {
  int x = 0, y = 0;
};

/// Returns the displacement of the candidate with this index (params.h).
constexpr Displacement displacement_of(int index, int window) {
  if (index == 0) return {};
  const int position = index - 1, radius = window / 2;
  return {position % window - radius, position / window - radius};
}

/// Returns the sizes of groups for a plane: patches are not larger than the plane, and the step is
/// not larger than a patch.
constexpr GroupSizes fitted(GroupSizes sizes, int width, int height) {
  const int shorter = width < height ? width : height;
  if (sizes.side > shorter) sizes.side = shorter;
  if (sizes.step > sizes.side) sizes.step = sizes.side;
  return sizes;
}

/// Groups of patches, stored as indices of candidates. The first member is the reference patch,
/// whose index is 0. The order of the other members is arbitrary.
class Groups {
 public:
  /// Makes all groups empty. `sizes` must be a result of fitted().
  void reset(int width, int height, const GroupSizes& sizes) {
    sizes_ = sizes;
    grid_ = {width, height, sizes.step, sizes.side};
    const std::size_t count = static_cast<std::size_t>(grid_.count_x) * grid_.count_y;
    counts_.assign(count, 0);
    members_.resize(count * sizes.group);
  }

  const GroupSizes& sizes() const { return sizes_; }
  const ReferenceGrid& grid() const { return grid_; }

  std::span<const std::uint16_t> at(int i, int j) const {
    return {members_.data() + index(i, j) * sizes_.group, counts_[index(i, j)]};
  }
  /// Returns the memory for the members of a group. The caller must set the number of members with
  /// set_count().
  std::span<std::uint16_t> space(int i, int j) {
    return {members_.data() + index(i, j) * sizes_.group, static_cast<std::size_t>(sizes_.group)};
  }
  void set_count(int i, int j, int count) {
    counts_[index(i, j)] = static_cast<std::uint8_t>(count);
  }

 private:
  std::size_t index(int i, int j) const { return static_cast<std::size_t>(j) * grid_.count_x + i; }

  GroupSizes sizes_;
  ReferenceGrid grid_;
  std::vector<std::uint8_t> counts_;
  std::vector<std::uint16_t> members_;
};

}  // namespace lull::linear
