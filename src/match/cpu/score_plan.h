#pragma once
// A plan for scores.cpp: the partial sums of a distance that neighbouring reference patches share.

#include <array>

#include "match/patch_shape.h"

namespace lull::cpu {

/// The plan for one stride `step` of reference patches. The pair of samples at column c of a patch
/// has the phase c % step. The pair is at column c % step in the patch c / step positions to the
/// right.

/// The plan first sums over pairs with equal c / step, where c is the column of a pair in the
/// patch.
struct PairPlan {
  int phases = 0;
  std::array<int, 4> phase{};  // the distinct phases
  int stored = 0;
  /// For each stored sum, a bit mask of the phases whose pairs the sum contains. Bit i stands for
  /// phase[i].
  std::array<unsigned, 3> mask{};
  int terms = 0;
  /// The stored sums (`array`) that add up to a distance. Each sum is loaded from `shift` lanes
  /// further right.
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
