#pragma once
// Stores groups on the host. With propagation (propagation.h), the matcher searches the complete
// window only for some reference patches. The members of the groups of these patches are candidates
// for the other reference patches and for the next phase.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "match/grid.h"
#include "match/group.h"
#include "match/propagation.h"

namespace lull {

/// Returns the first members of a group. `most` is the maximum number of returned members, a power
/// of two.
constexpr Group first_members(Group group, int most) {
  group.count = std::min(group.count, most);
  return group;
}

class KeptGroups {
 public:
  /// Returns whether the object has no memory for groups.
  bool empty() const { return members_.empty(); }
  /// Allocates memory for groups of up to `capacity` members of the reference patches `searched`.
  /// The function discards all stored groups.
  void reserve(const ReferenceGrid& searched, int capacity) {
    searched_ = searched;
    capacity_ = capacity;
    const std::size_t references = static_cast<std::size_t>(searched.count_x) * searched.count_y;
    counts_.resize(references);
    members_.resize(references * capacity);
  }
  /// Stores the group of a reference patch. Threads may store different groups at the same time.
  void keep(int column, int row, const Group& group) {
    const std::size_t reference = index(column, row);
    counts_[reference] = static_cast<std::uint8_t>(group.count);
    std::copy_n(group.members.begin(), group.count, members_.begin() + first(reference));
  }
  Group at(int column, int row) const {
    Group group;
    copy(column, row, group);
    return group;
  }
  /// Copies the members of a stored group to `to`. The function does not copy the unused elements
  /// of the group's array, because most groups are smaller than their array.
  void copy(int column, int row, Group& to) const {
    const std::size_t reference = index(column, row);
    to.count = counts_[reference];
    std::copy_n(members_.begin() + first(reference), to.count, to.members.begin());
  }
  /// Writes the candidates of the reference patch at (x, y) to `to`, in the order of
  /// neighbours_of(), and returns their number.
  int candidates_of(int x, int y, std::array<std::uint32_t, max_propagated>& to) const {
    const NeighbourPatches neighbours = neighbours_of(searched_, x, y);
    int count = 0;
    for (int n = 0; n < neighbours.count; ++n) {
      const auto& [column, row, members] = neighbours.all[n];
      const std::size_t reference = index(column, row);
      for (int m = 1; m <= members && m < counts_[reference]; ++m)
        to[count++] = members_[first(reference) + m];
    }
    return count;
  }

 private:
  std::size_t index(int column, int row) const {
    return static_cast<std::size_t>(row) * searched_.count_x + column;
  }
  std::ptrdiff_t first(std::size_t reference) const {
    return static_cast<std::ptrdiff_t>(reference * capacity_);
  }

  ReferenceGrid searched_;
  int capacity_ = 0;
  std::vector<std::uint8_t> counts_;
  std::vector<std::uint32_t> members_;  // [reference][capacity]
};

}  // namespace lull
