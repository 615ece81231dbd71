#pragma once
// A plan that states how scores.cpp composes the distance of two patches from sums that
// neighbouring reference patches share.

#include <array>

#include "match/patch_shape.h"

namespace lull::cpu {

/// The plan for one step between reference patches. Column c of a patch has the phase c % step. It
/// is also column c % step of the reference patch that is c / step positions to the right. `phase`
/// lists the phases of the column pairs 0-1, 2-3, 4-5 and 6-7. Phases with the same offset c / step
/// are summed first.
struct PairPlan {
  int phases = 0;
  std::array<int, 4> phase{};  // the distinct phases
  int stored = 0;
  /// For each stored array, a mask of the phases that are summed in it. Bit i represents phase[i].
  std::array<unsigned, 3> mask{};
  int terms = 0;
  /// The arrays that add up to the sum over a patch. Each array is read at the lane offset `shift`.
  std::array<int, 4> array{}, shift{};
};

constexpr PairPlan plan_for(int step) {
  PairPlan plan;
  std::array<unsigned, 8> at_shift{};
  for (int column = 0; column < patch; column += 2) {
    int index = 0;
    while (index < plan.phases && plan.phase[index] != column % step) ++index;
    if (index == plan.phases) plan.phase[plan.phases++] = column % step;
    at_shift[column / step] |= 1u << index;
  }
  for (int shift = 0; shift < 8; ++shift) {
    if (at_shift[shift] == 0) continue;
    int array = 0;
    while (array < plan.stored && plan.mask[array] != at_shift[shift]) ++array;
    if (array == plan.stored) plan.mask[plan.stored++] = at_shift[shift];
    plan.array[plan.terms] = array;
    plan.shift[plan.terms++] = shift;
  }
  return plan;
}

}  // namespace lull::cpu
