#pragma once
// How the matching of scores.cpp puts the distance of two patches together from sums that
// neighbouring references share.

#include <array>

#include "match/patch_shape.h"

namespace lull::cpu {

/// Pairs of a patch's columns 0-1, 2-3, 4-5, 6-7 for a step: column c is phase c % step of the
/// reference c / step to the right. Phases that meet at the same shift are summed first.
struct PairPlan {
  int phases = 0;
  std::array<int, 4> phase{};  // the different phases
  int stored = 0;
  std::array<unsigned, 3> mask{};  // phases summed in each stored array, by index
  int terms = 0;
  std::array<int, 4> array{}, shift{};  // a patch is the sum of these arrays at these lanes
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
