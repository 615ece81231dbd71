// Completes a phase for a slice: divides the weighted estimates by the convolution of group weights
// with the separable aggregation window.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bm4d/cpu/finish.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "bm4d/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm4d::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;

void finish_rows(const FinishSlice& slice, Rows rows, PlaneView<float> estimate) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d)), width = estimate.width;
  constexpr int before = 16;  // zeros
  std::vector<float> memory(before + width + row_padding);
  float* const line = memory.data() + before;  // weights, convolved along z and y
  for (int y = rows.y0; y < rows.y1; ++y) {
    for (int x = 0; x < width; x += lanes) {
      auto sum = hn::Zero(d);
      for (int c = 0; c < slice.cube; ++c) {
        if (slice.weights[c] == nullptr) continue;
        for (int b = 0; b < std::min(slice.cube, y + 1); ++b)
          sum = hn::MulAdd(hn::Set(d, slice.axis[c] * slice.axis[b]),
                           hn::LoadU(d, slice.weights[c] + (y - b) * slice.stride + x), sum);
      }
      hn::StoreU(sum, d, line + x);
    }
    const float *numerator = slice.numerator.row(y), *noisy = slice.noisy.row(y);
    float* const out = estimate.row(y);
    for (int x = 0; x < width; x += lanes) {
      auto sum = hn::Zero(d);
      for (int a = 0; a < slice.cube; ++a)
        sum = hn::MulAdd(hn::Set(d, slice.axis[a]), hn::LoadU(d, line + x - a), sum);
      const auto mean = hn::Div(hn::LoadU(d, numerator + x), sum);
      const auto value = hn::IfThenElse(hn::Gt(sum, hn::Zero(d)), mean, hn::LoadU(d, noisy + x));
      if (x + lanes <= width) {
        hn::StoreU(value, d, out + x);
      } else {
        alignas(64) float last[hn::MaxLanes(Floats())];
        hn::Store(value, d, last);
        std::copy_n(last, width - x, out + x);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::bm4d::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::bm4d::cpu {
HWY_EXPORT(finish_rows);
void finish_rows(const FinishSlice& slice, Rows rows, PlaneView<float> estimate) {
  HWY_DYNAMIC_DISPATCH(finish_rows)(slice, rows, estimate);
}
}  // namespace lull::bm4d::cpu
#endif
