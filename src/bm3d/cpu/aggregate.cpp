// The end of a phase: tiles are added to the picture, and the sum of weighted estimates is divided
// by the sum of weights. Groups leave their weight at the origins of their patches only; what each
// sample has got of it is that map convolved with the aggregation window (separable).

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bm3d/cpu/aggregate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "bm3d/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;

void add_rows(PlaneView<const float> from, PlaneView<float> to) {
  const Floats d;
  const int width = static_cast<int>(hn::Lanes(d));
  for (int y = 0; y < from.height; ++y) {
    const float* const a = from.row(y);
    float* const b = to.row(y);
    int x = 0;
    for (; x + width <= from.width; x += width)
      hn::StoreU(hn::Add(hn::LoadU(d, b + x), hn::LoadU(d, a + x)), d, b + x);
    for (; x < from.width; ++x) b[x] += a[x];
  }
}

void normalise_rows(const Normalisation& n, int y0, int y1, float* scratch) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int width = n.estimate.width, side = static_cast<int>(n.window.size());
  const int padded = static_cast<int>(round_up(width, 16));
  std::fill_n(scratch, 16, 0.0f);
  float* const line = scratch + 16;  // weights convolved along y; 0 before the picture
  for (int y = y0; y < y1; ++y) {
    for (int x = 0; x < padded; x += lanes) {
      auto sum = hn::Zero(d);
      for (int i = 0; i < side; ++i)
        sum = hn::MulAdd(hn::Set(d, n.window[i]), hn::LoadU(d, n.weights.row(y - i) + x), sum);
      hn::StoreU(sum, d, line + x);
    }
    for (int x = 0; x < padded; x += lanes) {
      auto sum = hn::Zero(d);
      for (int i = 0; i < side; ++i)
        sum = hn::MulAdd(hn::Set(d, n.window[i]), hn::LoadU(d, line + x - i), sum);
      const auto estimate = hn::IfThenElseZero(hn::Gt(sum, hn::Zero(d)),
                                               hn::Div(hn::LoadU(d, n.numerator.row(y) + x), sum));
      float* const out = n.estimate.row(y) + x;
      if (x + lanes <= width) {
        hn::StoreU(estimate, d, out);
      } else {
        HWY_ALIGN float last[HWY_MAX_BYTES / sizeof(float)];
        hn::Store(estimate, d, last);
        std::copy_n(last, std::max(0, width - x), out);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::bm3d::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::bm3d::cpu {
HWY_EXPORT(add_rows);
HWY_EXPORT(normalise_rows);
void add_rows(PlaneView<const float> from, PlaneView<float> to) {
  HWY_DYNAMIC_DISPATCH(add_rows)(from, to);
}
void normalise_rows(const Normalisation& n, int y0, int y1, float* scratch) {
  HWY_DYNAMIC_DISPATCH(normalise_rows)(n, y0, y1, scratch);
}
}  // namespace lull::bm3d::cpu
#endif
