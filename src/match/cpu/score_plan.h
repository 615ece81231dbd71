#pragma once
// A plan for scores.cpp: the partial sums of a distance that neighbouring reference patches share.

#include <array>

#include "match/patch_shape.h"

namespace lull::cpu {

/// Reference patches in a row begin `step` samples apart, and they overlap. A pair consists of two
/// adjacent samples in a row. If a pair is in column c of reference patch i, the same pair is in
/// column c % step of reference patch i + c / step (rounded down). This column, c % step, is the
/// phase of the pair.

/// The distance of a patch is a sum of squared differences over all pairs of samples. c is the
/// column of a pair in the patch. The kernel computes the distance in two steps: first a partial
/// sum for each value of c / step (rounded down), and then the sum of these partial sums.
struct PairPlan {
  int phases = 0;
  std::array<int, 4> phase{};  // the distinct phases
  int stored = 0;
  /// For each stored sum, a bit mask of its terms. If bit i is set, the sum contains the pairs of
  /// samples with the phase phase[i].
  std::array<unsigned, 3> mask{};
  int terms = 0;
  /// The terms that add up to the distance of a patch. Term t is the stored sum with the index
  /// array[t]. The term is in the lane that is shift[t] positions to the right of the lane of the
  /// patch.
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
