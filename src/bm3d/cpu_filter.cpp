// Collaborative filtering of one group, and its aggregation.
//
// 1. Each unit of patches (cpu_patch.h) is loaded, transformed and stored in the stack.
// 2. For each vector of coefficients the units' vectors are transformed across the group, cut or
//    scaled, and transformed back, all in registers. With two patches to a vector unit j holds
//    patches j and j + units, so that the last level of Haar combines the halves of one vector.
// 3. Each unit is transformed back and added to the tile with the group's weight.
// Neither transform has its scale in the butterflies: sums across 2^l patches are sqrt(2^l) times
// the orthonormal ones, which thresholds and the way back take into account.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bm3d/cpu_filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>
#include <utility>

#include "bm3d/cpu_kernels.h"
#include "bm3d/cpu_patch.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {
namespace {

using Halves = hn::CappedTag<float, 8>;

/// What differs between groups at compile time.
template <int kUnits, bool kPaired, GroupTransform kAcross>
struct Shape {
  static constexpr int units = kUnits;
  static constexpr bool paired = kPaired;  // the halves of a vector are different patches
  static constexpr GroupTransform across = kAcross;
  static constexpr int levels = std::countr_zero(static_cast<unsigned>(kUnits)) + (kPaired ? 1 : 0);

  /// Of the sums in the vector of unit `u`: log2 of the number of patches in each.
  static constexpr int level(int u) {
    if (across == GroupTransform::wht || u == 0) return levels;
    return std::countr_zero(static_cast<unsigned>(u)) + 1;
  }
};

/// (a, b) in the halves of a vector becomes (a + b, a - b).
HWY_INLINE Vector combine_halves(Vector v) {
  const Lanes d;
  alignas(64) static constexpr float signs[16] = {1,  1,  1,  1,  1,  1,  1,  1,
                                                  -1, -1, -1, -1, -1, -1, -1, -1};
  if constexpr (patches_per_unit == 2)
    return hn::MulAdd(v, hn::Load(d, signs), hn::ConcatLowerUpper(d, v, v));
  else
    return v;
}

HWY_INLINE void butterfly(Vector& a, Vector& b) {
  const Vector sum = hn::Add(a, b);
  b = hn::Sub(a, b);
  a = sum;
}

template <class S>
HWY_INLINE void forward_across(Vector* v) {
  for (int half = 1; half < S::units; half *= 2)
    for (int start = 0; start < S::units; start += 2 * half)
      for (int i = start; i < start + (S::across == GroupTransform::haar ? 1 : half); ++i)
        butterfly(v[i], v[i + half]);
  if constexpr (S::paired) {
    constexpr int combined = S::across == GroupTransform::haar ? 1 : S::units;
    for (int i = 0; i < combined; ++i) v[i] = combine_halves(v[i]);
  }
}

template <class S>
HWY_INLINE void inverse_across(Vector* v) {
  if constexpr (S::paired) {
    constexpr int combined = S::across == GroupTransform::haar ? 1 : S::units;
    for (int i = 0; i < combined; ++i) v[i] = combine_halves(v[i]);
  }
  for (int half = S::units / 2; half >= 1; half /= 2)
    for (int start = 0; start < S::units; start += 2 * half)
      for (int i = start; i < start + (S::across == GroupTransform::haar ? 1 : half); ++i)
        butterfly(v[i], v[i + half]);
}

constexpr double power(double base, int exponent) {
  double result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}
inline constexpr double root2 = 1.41421356237309504880;

HWY_INLINE Vector load_row(const CoefficientTable& table, int vector) {
  return hn::LoadU(Lanes(), table.at.data() + vector / parts * 16 + vector % parts * lanes);
}

template <class S>
HWY_INLINE void load_units(const float* stack, Vector* v) {
  for (int u = 0; u < S::units; ++u) v[u] = hn::LoadU(Lanes(), stack + u * unit_floats);
}
template <class S>
HWY_INLINE void store_units(const Vector* v, float* stack) {
  for (int u = 0; u < S::units; ++u) hn::StoreU(v[u], Lanes(), stack + u * unit_floats);
}

/// Sum over lanes, halved where each patch stands in both halves.
template <class S>
HWY_INLINE float total(Vector v) {
  const float sum = hn::GetLane(hn::SumOfLanes(Lanes(), v));
  return patches_per_unit == 2 && !S::paired ? sum / 2 : sum;
}

/// Step 2 of the first phase: gives the number of retained coefficients.
template <class S>
float threshold_across(const FilterTables& tables, float* stack, const float*) {
  const Lanes d;
  Vector retained = hn::Zero(d);
  for (int i = 0; i < unit_vectors; ++i) {
    Vector v[S::units];
    float* const at = stack + i * lanes;
    load_units<S>(at, v);
    forward_across<S>(v);
    const Vector limit = load_row(tables.limit, i), restore = load_row(tables.restore, i);
    for (int u = 0; u < S::units; ++u) {
      const int level = S::level(u);
      const Vector base = u == 0 ? load_row(tables.first_limit[S::paired ? 0 : 1], i) : limit;
      const auto keep = hn::Gt(hn::Abs(v[u]), hn::Mul(base, constant(power(root2, level))));
      v[u] = hn::IfThenElseZero(keep, hn::Mul(v[u], hn::Mul(restore, constant(power(0.5, level)))));
      retained = hn::Add(retained, hn::IfThenElseZero(keep, constant(1)));
    }
    inverse_across<S>(v);
    store_units<S>(v, at);
  }
  return total<S>(retained);
}

/// 1 / v to the precision of float where the instruction set has an estimate of 11 bits and more.
HWY_INLINE Vector reciprocal(Vector v) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  const Vector estimate = hn::ApproximateReciprocal(v);
  return hn::Mul(estimate, hn::NegMulAdd(v, estimate, constant(2)));
#else
  return hn::Div(constant(1), v);
#endif
}

/// Step 2 of the second phase: gives the sum of squared Wiener factors.
template <class S>
float wiener_across(const FilterTables& tables, float* stack, const float* basic_stack) {
  const Lanes d;
  Vector energy = hn::Zero(d);
  for (int i = 0; i < unit_vectors; ++i) {
    Vector noisy[S::units], basic[S::units];
    load_units<S>(basic_stack + i * lanes, basic);
    forward_across<S>(basic);
    const Vector noise = load_row(tables.limit, i), restore = load_row(tables.restore, i);
    for (int u = 0; u < S::units; ++u) {
      const int level = S::level(u);
      constexpr int first = S::paired ? 0 : 1;
      const Vector scale = constant(power(2, level));
      const Vector n = hn::Mul(u == 0 ? load_row(tables.first_limit[first], i) : noise, scale);
      const Vector m =
          u == 0 ? hn::Mul(load_row(tables.first_denominator[first], i), scale) : n;
      const Vector inverse = reciprocal(hn::MulAdd(basic[u], basic[u], m));
      const Vector factor = hn::NegMulAdd(n, inverse, constant(1));
      energy = hn::MulAdd(factor, factor, energy);
      basic[u] = hn::Mul(factor, hn::Mul(restore, constant(power(0.5, level))));
    }
    float* const at = stack + i * lanes;
    load_units<S>(at, noisy);
    forward_across<S>(noisy);
    for (int u = 0; u < S::units; ++u) noisy[u] = hn::Mul(noisy[u], basic[u]);
    inverse_across<S>(noisy);
    store_units<S>(noisy, at);
  }
  return total<S>(energy);
}

using Across = float (*)(const FilterTables&, float*, const float*);

/// Functions for groups of 2^n patches.
template <GroupTransform kAcross, bool kWiener, int... kLog2>
constexpr std::array<Across, sizeof...(kLog2)> make_across(
    std::integer_sequence<int, kLog2...> /*sizes*/) {
  constexpr auto pick = []<int kSize>() -> Across {
    constexpr bool paired = patches_per_unit == 2 && kSize > 1;
    using S = Shape<paired ? kSize / 2 : kSize, paired, kAcross>;
    if constexpr (kWiener)
      return wiener_across<S>;
    else
      return threshold_across<S>;
  };
  return {pick.template operator()<1 << kLog2>()...};
}
using Sizes = std::make_integer_sequence<int, 6>;

// Templates, so that what a vector of one patch has no use for is not compiled.
template <int kPatches = patches_per_unit, class D = Lanes>
HWY_INLINE Vector load_pair(D d, const float* a, const float* b, int part) {
  if constexpr (kPatches == 2) {
    const hn::Half<D> half;
    return hn::Combine(d, hn::LoadU(half, b), hn::LoadU(half, a));
  } else {
    return hn::LoadU(d, a + part * lanes);
  }
}
template <int kPatches = patches_per_unit, class V>
HWY_INLINE hn::Vec<Halves> first_of(V v) {
  if constexpr (kPatches == 2)
    return hn::LowerHalf(Halves(), v);
  else
    return v;
}
template <int kPatches = patches_per_unit, class V>
HWY_INLINE hn::Vec<Halves> second_of(V v) {
  if constexpr (kPatches == 2)
    return hn::UpperHalf(Halves(), v);
  else
    return v;
}

/// Where the patches of unit `u` lie, relative to a plane's sample (0, 0).
struct Places {
  int x[max_group], y[max_group];
  int count, units;

  Places(int x0, int y0, const Group& group)
      : count(group.count), units((group.count + patches_per_unit - 1) / patches_per_unit) {
    for (int m = 0; m < count; ++m) {
      x[m] = x0 + displacement_x(group.members[m]);
      y[m] = y0 + displacement_y(group.members[m]);
    }
  }
  int second(int u) const { return units + u < count ? units + u : u; }
};

template <class Transform>
HWY_INLINE void load_stack(const float* plane, std::ptrdiff_t stride, const Places& places,
                           float* stack) {
  for (int u = 0; u < places.units; ++u) {
    const int m = places.second(u);
    const float* const a = plane + places.y[u] * stride + places.x[u];
    const float* const b = plane + places.y[m] * stride + places.x[m];
    Vector v[unit_vectors];
    for (int row = 0; row < patch; ++row)
      for (int part = 0; part < parts; ++part)
        v[part * 8 + row] = load_pair(Lanes(), a + row * stride, b + row * stride, part);
    forward_unit<Transform>(v);
    for (int row = 0; row < patch; ++row)
      for (int part = 0; part < parts; ++part)
        hn::StoreU(v[part * 8 + row], Lanes(),
                   stack + u * unit_floats + (row * parts + part) * lanes);
  }
}

HWY_INLINE void add_to(float* at, hn::Vec<Halves> v) {
  const Halves d;
  hn::StoreU(hn::Add(hn::LoadU(d, at), v), d, at);
}

template <class Transform>
HWY_INLINE void add_stack(const float* stack, const FilterTables& tables, const Places& places,
                          float weight, const PlaneTile& tile) {
  const Lanes d;
  alignas(64) float window[16];
  for (int i = 0; i < 16; ++i) window[i] = weight * tables.window[i % patch];
  for (int u = 0; u < places.units; ++u) {
    Vector v[unit_vectors];
    for (int row = 0; row < patch; ++row)
      for (int part = 0; part < parts; ++part)
        v[part * 8 + row] =
            hn::LoadU(d, stack + u * unit_floats + (row * parts + part) * lanes);
    inverse_unit<Transform>(v);
    for (int row = 0; row < patch; ++row)
      for (int part = 0; part < parts; ++part)
        v[part * 8 + row] =
            hn::Mul(v[part * 8 + row], hn::Mul(hn::Load(d, window + part * lanes),
                                               hn::Set(d, tables.window[row])));
    const std::ptrdiff_t origin = places.y[u] * tile.stride + places.x[u];
    tile.weights[origin] += weight;
    for (int row = 0; row < patch; ++row)
      for (int part = 0; part < parts; ++part) {
        float* const at = tile.numerator + origin + row * tile.stride + part * lanes;
        add_to(at, first_of(v[part * 8 + row]));
      }
    if constexpr (patches_per_unit == 2) {
      const int m = places.second(u);
      if (m == u) continue;
      const std::ptrdiff_t other = places.y[m] * tile.stride + places.x[m];
      tile.weights[other] += weight;
      for (int row = 0; row < patch; ++row)
        add_to(tile.numerator + other + row * tile.stride, second_of(v[row]));
    }
  }
}

template <class Transform>
void filter_with(const FilterTables& tables, const PlaneTile& tile, int x, int y,
                 const Group& group, float* scratch) {
  static constexpr std::array<std::array<Across, 6>, 4> across = {
      make_across<GroupTransform::haar, false>(Sizes()),
      make_across<GroupTransform::haar, true>(Sizes()),
      make_across<GroupTransform::wht, false>(Sizes()),
      make_across<GroupTransform::wht, true>(Sizes())};
  const Places places(x, y, group);
  const bool wiener = tile.basic != nullptr;
  float* const basic = scratch + max_group * patch * patch;
  load_stack<Transform>(tile.noisy, tile.noisy_stride, places, scratch);
  if (wiener) load_stack<Transform>(tile.basic, tile.basic_stride, places, basic);
  const int size = std::countr_zero(static_cast<unsigned>(group.count));
  const int kind = (tables.across == GroupTransform::wht ? 2 : 0) + (wiener ? 1 : 0);
  const float energy = across[kind][size](tables, scratch, basic);
  add_stack<Transform>(scratch, tables, places, 1 / energy, tile);
}

}  // namespace

void filter_group(const FilterTables& tables, const PlaneTile& tile, int x, int y,
                  const Group& group, float* scratch) {
  if (tables.transform == Transform::dct)
    filter_with<Dct>(tables, tile, x, y, group, scratch);
  else
    filter_with<Bior>(tables, tile, x, y, group, scratch);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::bm3d::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::bm3d::cpu {
HWY_EXPORT(filter_group);
void filter_group(const FilterTables& tables, const PlaneTile& tile, int x, int y,
                  const Group& group, float* scratch) {
  HWY_DYNAMIC_DISPATCH(filter_group)(tables, tile, x, y, group, scratch);
}
}  // namespace lull::bm3d::cpu
#endif
