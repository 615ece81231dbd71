// Completes a phase: adds the tiles to the picture, and divides the sums of estimates by the sums
// of weights.

// The filter stores group weights only at the top-left sample of each patch. normalise_rows()
// convolves these weights with the separable aggregation window.

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

std::size_t list_weights(std::span<const float> row, std::uint32_t first, std::uint32_t* positions,
                         float* values) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToUnsigned<decltype(d)> integers;
  std::size_t count = 0;
  for (std::size_t x = 0; x < row.size(); x += hn::Lanes(d)) {
    const auto weights = hn::LoadU(d, row.data() + x);
    const auto used = hn::Ne(weights, hn::Zero(d));
    if (hn::AllFalse(d, used)) continue;
    const auto place = hn::Iota(integers, first + static_cast<std::uint32_t>(x));
    hn::CompressStore(weights, used, d, values + count);
    count += hn::CompressStore(place, hn::RebindMask(integers, used), integers, positions + count);
  }
  return count;
}

namespace {

/// Convolves weights with the aggregation window along one axis. Returns the sum of window[i] *
/// v(i) over all i, where v(i) is the vector at the address `at` - i * `steps`.
HWY_INLINE hn::Vec<Floats> convolve(const hn::Vec<Floats> (&window)[patch], const float* at,
                                    std::ptrdiff_t steps) {
  const Floats d;
  auto sum = hn::Mul(window[0], hn::LoadU(d, at));
#pragma GCC unroll 16
  for (int i = 1; i < patch; ++i) sum = hn::MulAdd(window[i], hn::LoadU(d, at - i * steps), sum);
  return sum;
}

}  // namespace

void normalise_rows(const Normalisation& n, int y0, int y1, float* scratch) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int width = n.estimate.width, padded = static_cast<int>(round_up(width, 16));
  std::fill_n(scratch, 16, 0.0f);
  // One row of weights after the convolution along y. Zeros precede the row, because the
  // convolution along x also reads elements before the row.
  float* const line = scratch + 16;
  hn::Vec<Floats> window[patch];
  for (int i = 0; i < patch; ++i) window[i] = hn::Set(d, n.window[i]);
  for (int y = y0; y < y1; ++y) {
    const float* const weights = n.weights.row(y);
    const float* const numerator = n.numerator.row(y);
    for (int x = 0; x < padded; x += lanes)
      hn::StoreU(convolve(window, weights + x, n.weights.stride), d, line + x);
    for (int x = 0; x < padded; x += lanes) {
      const auto sum = convolve(window, line + x, 1);
      const auto estimate =
          hn::IfThenElseZero(hn::Gt(sum, hn::Zero(d)), hn::Div(hn::LoadU(d, numerator + x), sum));
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
HWY_EXPORT(list_weights);
HWY_EXPORT(normalise_rows);
void add_rows(PlaneView<const float> from, PlaneView<float> to) {
  HWY_DYNAMIC_DISPATCH(add_rows)(from, to);
}
std::size_t list_weights(std::span<const float> row, std::uint32_t first, std::uint32_t* positions,
                         float* values) {
  return HWY_DYNAMIC_DISPATCH(list_weights)(row, first, positions, values);
}
void normalise_rows(const Normalisation& n, int y0, int y1, float* scratch) {
  HWY_DYNAMIC_DISPATCH(normalise_rows)(n, y0, y1, scratch);
}
}  // namespace lull::bm3d::cpu
#endif
