// Filters one group (collaborative filtering), and aggregates its estimates.

// Step 1: The filter loads the patches of the group, transforms each patch, and stores the
// coefficients in `stack`.

// Step 2: The filter transforms the coefficients across the group, shrinks them, and transforms
// them back. The intermediate results remain in registers.

// Step 3: The filter transforms each patch back, multiplies the patch by the weight of the group,
// and adds the product to the tile.

// Vectors of 16 lanes contain two patches each. In a group of 2 * n patches, the lower half of a
// vector then contains patch j, and the upper half contains patch j + n.

// The transforms have no scale factors: a sum over 2^l patches is sqrt(2^l) times the orthonormal
// coefficient. The tables of thresholds and inverse factors contain the scale.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bm3d/cpu/filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>
#include <type_traits>

#include "bm3d/cpu/complex.h"
#include "bm3d/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {
namespace {

using Halves = hn::CappedTag<float, 8>;

// The following functions are templates, because their code for two patches per vector compiles
// only for vectors of 16 lanes.
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

/// Positions of the patches of a group in the plane.
struct PatchPositions {
  int x[max_group], y[max_group];
  const FrameTile* frame[max_group];
  int count, units;

  PatchPositions(const PlaneTile& tile, int x0, int y0, const Group& group)
      : count(group.count), units((group.count + patches_per_unit - 1) / patches_per_unit) {
    for (int m = 0; m < count; ++m) {
      x[m] = x0 + displacement_x(group.members[m]);
      y[m] = y0 + displacement_y(group.members[m]);
      frame[m] = &tile.of(group.members[m]);
    }
  }
  int second(int u) const { return units + u < count ? units + u : u; }
};

template <class Transform>
HWY_INLINE void load_stack(const float* FrameTile::*plane, std::ptrdiff_t FrameTile::*stride_of,
                           const PatchPositions& positions, float* stack) {
  const auto first = [&](int m) HWY_ATTR {
    const FrameTile& frame = *positions.frame[m];
    return frame.*plane + positions.y[m] * (frame.*stride_of) + positions.x[m];
  };
  for (int u = 0; u < positions.units; ++u) {
    const int m = positions.second(u);
    const float *const a = first(u), *const b = first(m);
    const std::ptrdiff_t a_stride = positions.frame[u]->*stride_of;
    const std::ptrdiff_t b_stride = positions.frame[m]->*stride_of;
    Vector v[unit_vectors];
    for (int row = 0; row < patch; ++row)
      for (int part = 0; part < parts; ++part)
        v[part * 8 + row] = load_pair(Lanes(), a + row * a_stride, b + row * b_stride, part);
    forward_unit<Transform>(v);
    for (int row = 0; row < patch; ++row)
      for (int part = 0; part < parts; ++part)
        hn::StoreU(v[part * 8 + row], Lanes(),
                   stack + u * unit_floats + (row * parts + part) * lanes);
  }
}

/// Adds the estimate of the patch at (x, y), multiplied by `window`, to the numerator of a tile.
/// Adds `weight` to the weights of the tile.
/// @param window  the aggregation window, multiplied by `weight`
/// @param estimate  estimate(row, part) returns a row of 8 samples as a vector of 8 lanes, or half
///     of the row as a vector of 4 lanes (part 0: left, 1: right)
template <class Estimate>
HWY_INLINE void add_patch(const FrameTile& tile, int x, int y, float weight, const float* window,
                          const Estimate& estimate) {
  const Halves d;
  // `stride` and `origin` are copies of members of `tile`, because the compiler would otherwise
  // load the members again after each store to the tile.
  const std::ptrdiff_t stride = tile.stride, origin = y * stride + x;
  float* at = tile.numerator + origin;
  tile.weights[origin] += weight;
  for (int row = 0; row < patch; ++row, at += stride)
    for (int part = 0; part < parts; ++part) {
      const auto sum =
          hn::MulAdd(estimate(row, part), hn::Load(d, window + (row * parts + part) * lanes),
                     hn::LoadU(d, at + part * lanes));
      hn::StoreU(sum, d, at + part * lanes);
    }
}

template <class Transform>
HWY_INLINE void add_stack(const float* stack, const FilterTables& tables,
                          const PatchPositions& positions, float weight) {
  const Lanes d;
  alignas(64) float window[unit_vectors * lanes];
  for (int i = 0; i < unit_vectors; ++i)
    hn::Store(hn::Mul(hn::Set(d, weight), load_row(tables.outer_window, i)), d, window + i * lanes);
  for (int u = 0; u < positions.units; ++u) {
    Vector v[unit_vectors];
    for (int row = 0; row < patch; ++row)
      for (int part = 0; part < parts; ++part)
        v[part * 8 + row] = hn::LoadU(d, stack + u * unit_floats + (row * parts + part) * lanes);
    inverse_unit<Transform>(v);
    add_patch(*positions.frame[u], positions.x[u], positions.y[u], weight, window,
              [&](int row, int part) HWY_ATTR { return first_of(v[part * 8 + row]); });
    if constexpr (patches_per_unit == 2) {
      const int m = positions.second(u);
      if (m == u) continue;
      add_patch(*positions.frame[m], positions.x[m], positions.y[m], weight, window,
                [&](int row, int) HWY_ATTR { return second_of(v[row]); });
    }
  }
}

template <class Transform>
void filter_with(const FilterTables& tables, const PlaneTile& tile, int x, int y,
                 const Group& group, float* scratch) {
  const PatchPositions positions(tile, x, y, group);
  const bool wiener = tile.wiener;
  float* const basic = scratch + max_group * patch * patch;
  load_stack<Transform>(&FrameTile::noisy, &FrameTile::noisy_stride, positions, scratch);
  if (wiener) load_stack<Transform>(&FrameTile::basic, &FrameTile::basic_stride, positions, basic);
  const int size = std::countr_zero(static_cast<unsigned>(group.count));
  Across step;
  if constexpr (std::is_same_v<Transform, Dft>) {
    step = across<Spectrum::complex>(tables.across, wiener, size);
  } else if (tables.covariances == nullptr) {
    step = across<Spectrum::white>(tables.across, wiener, size);
  } else {
    step = across<Spectrum::coloured>(tables.across, wiener, size);
    group_variances(*tables.covariances, tables.across, group, scratch + variances_in_scratch);
  }
  const float energy = step(tables, scratch, basic);
  add_stack<Transform>(scratch, tables, positions, 1 / energy);
}

}  // namespace

void filter_group(const FilterTables& tables, const PlaneTile& tile, int x, int y,
                  const Group& group, float* scratch) {
  switch (tables.transform) {
    case Transform::dct:
      return filter_with<Dct>(tables, tile, x, y, group, scratch);
    case Transform::bior:
      return filter_with<Bior>(tables, tile, x, y, group, scratch);
    case Transform::dft:
      return filter_with<Dft>(tables, tile, x, y, group, scratch);
  }
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
