// Computes the distances between patches that span two frames, four candidates at a time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bm3d/cpu/bayes_match.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "bm3d/cpu/bayes.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Eight = hn::CappedTag<float, 8>;

/// Computes the distances of kCount candidates from index `u` on, for patch sides of 8 to 16.
template <int kCount>
HWY_INLINE void candidate_distances(const RowOfCandidates& row, int u, float* out) {
  const Eight d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  hn::Vec<Eight> sum[kCount];
  for (int c = 0; c < kCount; ++c) sum[c] = hn::Zero(d);
  for (int k = 0; k < 2; ++k) {
    if (row.own[k] == nullptr) break;
    const float *own = row.own[k], *other = row.other[k] + u;
    for (int i = 0; i < row.side; ++i, own += row.stride, other += row.stride) {
      int x = 0;
      for (; x + lanes <= row.side; x += lanes) {
        const auto a = hn::LoadU(d, own + x);
        for (int c = 0; c < kCount; ++c) {
          const auto difference = hn::Sub(a, hn::LoadU(d, other + x + c));
          sum[c] = hn::MulAdd(difference, difference, sum[c]);
        }
      }
      if (x == row.side) continue;
      // The last vector of a row may overlap the previous vector. The kernel masks out the overlap.
      const int back = row.side - lanes;
      const auto is_new = hn::Not(hn::FirstN(d, x - back));
      const auto a = hn::LoadU(d, own + back);
      for (int c = 0; c < kCount; ++c) {
        const auto difference =
            hn::IfThenElseZero(is_new, hn::Sub(a, hn::LoadU(d, other + back + c)));
        sum[c] = hn::MulAdd(difference, difference, sum[c]);
      }
    }
  }
  const int samples = row.side * row.side * (row.own[1] == nullptr ? 1 : 2);
  for (int c = 0; c < kCount; ++c)
    out[u + c] = hn::GetLane(hn::SumOfLanes(d, sum[c])) / static_cast<float>(samples);
}

}  // namespace

void bayes_distances(const RowOfCandidates& row, float* distances) {
  int u = 0;
  for (; u + 4 <= row.columns; u += 4) candidate_distances<4>(row, u, distances);
  for (; u < row.columns; ++u) candidate_distances<1>(row, u, distances);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::bm3d::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::bm3d::cpu {
HWY_EXPORT(bayes_distances);
void bayes_distances(const RowOfCandidates& row, float* distances) {
  HWY_DYNAMIC_DISPATCH(bayes_distances)(row, distances);
}
}  // namespace lull::bm3d::cpu
#endif
