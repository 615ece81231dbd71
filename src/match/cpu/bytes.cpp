// Vectorised quantisation of the guide to bytes.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/cpu/bytes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "match/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Bytes = hn::Rebind<std::int8_t, Floats>;

HWY_INLINE hn::Vec<Bytes> to_bytes(hn::Vec<Floats> samples, hn::Vec<Floats> centre,
                                   hn::Vec<Floats> scale) {
  const Floats d;
  const hn::Rebind<std::int32_t, Floats> integers;
  const auto low = hn::Set(d, -127.0f), high = hn::Set(d, 127.0f);
  auto v = hn::Mul(hn::Sub(samples, centre), scale);
  v = hn::IfThenElse(hn::Gt(v, low), v, low);  // replaces NaN as well
  v = hn::IfThenElse(hn::Lt(v, high), v, high);
  const auto above = hn::ConvertTo(integers, hn::Add(v, hn::Set(d, 128.5f)));
  return hn::DemoteTo(Bytes(), hn::Sub(above, hn::Set(integers, 128)));
}

}  // namespace

std::array<float, 2> row_range(std::span<const float> samples) {
  const Floats d;
  const std::size_t width = hn::Lanes(d);
  auto low = hn::Set(d, samples[0]), high = low;
  std::size_t x = 0;
  for (; x + width <= samples.size(); x += width) {
    const auto v = hn::LoadU(d, samples.data() + x);
    low = hn::IfThenElse(hn::Lt(v, low), v, low);
    high = hn::IfThenElse(hn::Gt(v, high), v, high);
  }
  std::array<float, 2> range{hn::GetLane(hn::MinOfLanes(d, low)),
                             hn::GetLane(hn::MaxOfLanes(d, high))};
  for (; x < samples.size(); ++x) {
    const float v = samples[x];
    range = {v < range[0] ? v : range[0], v > range[1] ? v : range[1]};
  }
  return range;
}

void byte_row(std::span<const float> samples, const Quantiser& quantiser, std::int8_t* bytes) {
  const Floats d;
  const std::size_t width = hn::Lanes(d);
  const auto centre = hn::Set(d, quantiser.centre), scale = hn::Set(d, 1 / quantiser.unit);
  std::size_t x = 0;
  for (; x + width <= samples.size(); x += width)
    hn::StoreU(to_bytes(hn::LoadU(d, samples.data() + x), centre, scale), Bytes(), bytes + x);
  if (x == samples.size()) return;
  HWY_ALIGN float last[HWY_MAX_BYTES / sizeof(float)] = {};
  HWY_ALIGN std::int8_t last_bytes[HWY_MAX_BYTES];
  std::copy(samples.begin() + static_cast<std::ptrdiff_t>(x), samples.end(), last);
  hn::Store(to_bytes(hn::Load(d, last), centre, scale), Bytes(), last_bytes);
  std::copy_n(last_bytes, samples.size() - x, bytes + x);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::cpu {
HWY_EXPORT(row_range);
HWY_EXPORT(byte_row);
std::array<float, 2> row_range(std::span<const float> samples) {
  return HWY_DYNAMIC_DISPATCH(row_range)(samples);
}
void byte_row(std::span<const float> samples, const Quantiser& quantiser, std::int8_t* bytes) {
  HWY_DYNAMIC_DISPATCH(byte_row)(samples, quantiser, bytes);
}
}  // namespace lull::cpu
#endif
