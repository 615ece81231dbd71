#pragma once
// Groups that one phase leaves to the next, on the host: in place of a search, the next phase ranks
// their members anew. A phase's candidates come from a search, or from the phase before.
//
// Ranking anew gives, for each reference patch, a group as group.h has it, out of the members of a
// kept one: by their distances in the new guide, those at equal distance in the order in which they
// were kept; place_bonus and tau as in a search. There is no bias: new guides are estimates.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "match/group.h"

namespace lull {

/// The first `most` members of a group, `most` being a power of two.
constexpr Group head_of(Group group, int most) {
  group.count = std::min(group.count, most);
  return group;
}

class KeptGroups {
 public:
  /// Room for the groups of so many reference patches, of `capacity` members at most. What was kept
  /// is lost where it is not the room that there is.
  void reserve(std::size_t references, int capacity) {
    capacity_ = capacity;
    counts_.resize(references);
    members_.resize(references * capacity);
  }
  /// From several threads at once, for different references.
  void keep(std::size_t reference, const Group& group) {
    counts_[reference] = static_cast<std::uint8_t>(group.count);
    std::copy_n(group.members.begin(), group.count, members_.begin() + first(reference));
  }
  Group at(std::size_t reference) const {
    Group group;
    group.count = counts_[reference];
    std::copy_n(members_.begin() + first(reference), group.count, group.members.begin());
    return group;
  }

 private:
  std::ptrdiff_t first(std::size_t reference) const {
    return static_cast<std::ptrdiff_t>(reference * capacity_);
  }

  int capacity_ = 0;
  std::vector<std::uint8_t> counts_;
  std::vector<std::uint32_t> members_;  // [reference][capacity]
};

}  // namespace lull
