#pragma once
// A plan for scores.cpp. The distance of two patches is the total of several sums, which
// neighbouring reference patches share. The plan states which sums the kernel adds.

#include <array>

#include "match/patch_shape.h"

namespace lull::cpu {

/// The plan for one step between reference patches. The kernel compares the pairs of columns 0-1,
/// 2-3, 4-5 and 6-7 of a patch. The pair at column c is also the pair at column c % step (the
/// phase) of the reference patch c / step positions to the right. The kernel first sums all pairs
/// with the same c / step.
struct PairPlan {
  int phases = 0;
  std::array<int, 4> phase{};  // the distinct phases
  int stored = 0;
  /// For each array of sums that the kernel stores: a bit mask of the phases that the array sums.
  /// Bit i stands for phase[i].
  std::array<unsigned, 3> mask{};
  int terms = 0;
  /// The arrays of sums whose total is the distance of two patches. The kernel loads each array
  /// with an offset of `shift` vector lanes to the right.
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
