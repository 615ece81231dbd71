#pragma once
// A plan for scores.cpp: the partial sums of a distance that neighbouring reference patches share.

#include <array>

#include "match/patch_shape.h"

namespace lull::cpu {

/// Reference patches in a row begin `step` samples apart, so several overlapping patches contain
/// the same pair of horizontally adjacent samples. A pair in column c of reference patch i is also
/// in column c - k * step of patch i + k, as long as c - k * step is not negative. The last of
/// these columns, c % step, is the phase of the pair.

/// The distance of a patch is the sum of the squared differences of all its pairs of samples. The
/// kernel computes this sum in two steps. First, it adds the pairs whose columns c have the same
/// value of c / step (rounded down). Then it adds these partial sums.
struct PairPlan {
  int phases = 0;
  std::array<int, 4> phase{};  // the distinct phases
  int stored = 0;
  /// A bit mask for each stored partial sum. If bit i is 1, the partial sum contains the pairs with
  /// the phase phase[i].
  std::array<unsigned, 3> mask{};
  int terms = 0;
  /// The partial sums whose total is the distance of a patch. For the patch in lane i, term t of
  /// this total is in lane i + shift[t] of the stored partial sum with the index array[t].
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
