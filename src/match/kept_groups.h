#pragma once
// Groups of reference patches that searched their windows, on the host: what others propagate
// (propagation.h), those between them and those of the next phase.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "match/grid.h"
#include "match/group.h"
#include "match/propagation.h"

namespace lull {

/// The first `most` members of a group, `most` being a power of two.
constexpr Group head_of(Group group, int most) {
  group.count = std::min(group.count, most);
  return group;
}

class KeptGroups {
 public:
  /// Room for the groups of these reference patches, of `capacity` members at most. What was kept
  /// is lost.
  void reserve(const ReferenceGrid& searched, int capacity) {
    searched_ = searched;
    capacity_ = capacity;
    const std::size_t references = static_cast<std::size_t>(searched.count_x) * searched.count_y;
    counts_.resize(references);
    members_.resize(references * capacity);
  }
  /// Of the reference patch in this column and row. From several threads at once, for different
  /// ones.
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
  /// The same in place: a group has room for more members than most have.
  void copy(int column, int row, Group& to) const {
    const std::size_t reference = index(column, row);
    to.count = counts_[reference];
    std::copy_n(members_.begin() + first(reference), to.count, to.members.begin());
  }
  /// The members that a patch at (x, y) looks at, in their order.
  int looked_at(int x, int y, std::array<std::uint32_t, max_propagated>& to) const {
    const Neighbours neighbours = neighbours_of(searched_, x, y);
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
