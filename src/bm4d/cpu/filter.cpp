// Filters one group. A unit is the set of SIMD vectors that contain one cube (vectors of 4 lanes)
// or two cubes of the group (vectors of 8 lanes).

// Before the transform of the cubes, each vector contains the voxels of the cubes at one position
// (z, y), and the lane is the position along x. After this transform, each vector contains the
// coefficients with one index w along z and one index u along x, and the lane is the index along y.

// Each cube has four lanes of a vector. For cubes of side 3, the fourth of these lanes is 0.

// Vectors of 8 lanes contain rows of two cubes. In a group of `count` cubes, the lower half
// contains a row of cube i, and the upper half contains a row of cube i + count / 2. The last level
// of the Haar transform combines the two halves. All other levels combine different vectors, lane
// by lane.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bm4d/cpu/filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "bm4d/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm4d::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Row = hn::CappedTag<float, 4>;
inline constexpr float half_root = 0.70710678f;

/// Orthonormal DCT-II of 3 or 4 vectors, lane by lane.
template <int cube, class D, class V>
HWY_INLINE void dct(D d, V* x) {
  if constexpr (cube == 4) {
    const V a = hn::Set(d, 0.65328148f), b = hn::Set(d, 0.27059805f), h = hn::Set(d, 0.5f);
    const V s0 = hn::Add(x[0], x[3]), s1 = hn::Add(x[1], x[2]);
    const V d0 = hn::Sub(x[0], x[3]), d1 = hn::Sub(x[1], x[2]);
    x[0] = hn::Mul(h, hn::Add(s0, s1));
    x[1] = hn::MulAdd(a, d0, hn::Mul(b, d1));
    x[2] = hn::Mul(h, hn::Sub(s0, s1));
    x[3] = hn::MulSub(b, d0, hn::Mul(a, d1));
  } else {
    const V s = hn::Add(x[0], x[2]), t = hn::Sub(x[0], x[2]), m = x[1];
    x[0] = hn::Mul(hn::Set(d, 0.57735027f), hn::Add(s, m));
    x[1] = hn::Mul(hn::Set(d, half_root), t);
    x[2] = hn::MulSub(hn::Set(d, 0.40824829f), s, hn::Mul(hn::Set(d, 0.81649658f), m));
  }
}
template <int cube, class D, class V>
HWY_INLINE void inverse_dct(D d, V* x) {
  if constexpr (cube == 4) {
    const V a = hn::Set(d, 0.65328148f), b = hn::Set(d, 0.27059805f), h = hn::Set(d, 0.5f);
    const V s0 = hn::Mul(h, hn::Add(x[0], x[2])), s1 = hn::Mul(h, hn::Sub(x[0], x[2]));
    const V d0 = hn::MulAdd(a, x[1], hn::Mul(b, x[3]));
    const V d1 = hn::MulSub(b, x[1], hn::Mul(a, x[3]));
    x[0] = hn::Add(s0, d0);
    x[1] = hn::Add(s1, d1);
    x[2] = hn::Sub(s1, d1);
    x[3] = hn::Sub(s0, d0);
  } else {
    const V mean = hn::Mul(hn::Set(d, 0.57735027f), x[0]);
    const V t = hn::Mul(hn::Set(d, half_root), x[1]);
    const V s = hn::MulAdd(hn::Set(d, 0.40824829f), x[2], mean);
    x[1] = hn::NegMulAdd(hn::Set(d, 0.81649658f), x[2], mean);
    x[0] = hn::Add(s, t);
    x[2] = hn::Sub(s, t);
  }
}

/// Transposes each block of 4 lanes: lane i of vector j becomes lane j of vector i.
template <class D, class V>
HWY_INLINE void transpose(D d, V* x) {
  const V a = hn::InterleaveLower(d, x[0], x[2]), b = hn::InterleaveLower(d, x[1], x[3]);
  const V e = hn::InterleaveUpper(d, x[0], x[2]), f = hn::InterleaveUpper(d, x[1], x[3]);
  x[0] = hn::InterleaveLower(d, a, b);
  x[1] = hn::InterleaveUpper(d, a, b);
  x[2] = hn::InterleaveLower(d, e, f);
  x[3] = hn::InterleaveUpper(d, e, f);
}

/// Filters groups of cubes. `cube` is the side of a cube, and `count` is the number of cubes in a
/// group.
template <class D, int cube, int count>
class GroupFilter {
 public:
  using V = hn::Vec<D>;
  static constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));
  static constexpr int cubes = lanes / 4;  // number of cubes in a unit
  static constexpr int units = count / cubes;
  static constexpr int vectors = cube * cube;  // number of vectors in a unit
  static_assert(units >= 1);

  GroupFilter(const FilterTables& tables, const FilterSlices& slices, int x, int y,
              const Group& group)
      : tables_(tables), slices_(slices) {
    for (int m = 0; m < count; ++m) {
      slice_[m] = tables.radius + offset_z(group.members[m]);
      at_[m] = (y + offset_y(group.members[m])) * slices.stride + x + offset_x(group.members[m]);
    }
  }

  void run() {
    alignas(64) float noisy[units * vectors * lanes];
    to_coefficients(slices_.noisy, noisy);
    float weight;
    if (tables_.wiener) {
      alignas(64) float basic[units * vectors * lanes];
      to_coefficients(slices_.basic, basic);
      weight = 1 / wiener(noisy, basic);
    } else {
      weight = 1 / threshold(noisy);
    }
    for (int u = 0; u < units; ++u) add_unit(noisy + u * vectors * lanes, u, weight);
    for (int m = 0; m < count; ++m) slices_.weights[slice_[m]][at_[m]] += weight;
  }

 private:
  /// Returns the position, in the group, of a cube of unit `u`. A unit consists of the SIMD vectors
  /// of one cube (4 lanes) or of two cubes (8 lanes). `block` is 0 for the cube in the lower 4
  /// lanes, and 1 for the cube in the upper 4 lanes.
  static constexpr int member(int u, int block) { return u + block * units; }

  HWY_INLINE V load_row(const float* const* volume, int u, int z, std::ptrdiff_t offset) const {
    const Row row;
    const auto load = [&](int m) HWY_ATTR {
      const auto v = hn::LoadU(row, volume[slice_[m] + z] + at_[m] + offset);
      if constexpr (cube == 4)
        return v;
      else
        return hn::IfThenElseZero(hn::FirstN(row, cube), v);
    };
    if constexpr (cubes == 1)
      return load(member(u, 0));
    else
      return hn::Combine(D(), load(member(u, 1)), load(member(u, 0)));
  }

  void to_coefficients(const std::array<const float*, max_near>& volume, float* to) const {
    const D d;
    for (int u = 0; u < units; ++u, to += vectors * lanes) {
      for (int z = 0; z < cube; ++z) {
        V x[4];
        x[3] = hn::Zero(d);
        for (int y = 0; y < cube; ++y) x[y] = load_row(volume.data(), u, z, y * slices_.stride);
        dct<cube>(d, x);
        transpose(d, x);
        dct<cube>(d, x);
        for (int i = 0; i < cube; ++i) hn::Store(x[i], d, to + (z * cube + i) * lanes);
      }
      for (int i = 0; i < cube; ++i) {
        V x[4];
        for (int z = 0; z < cube; ++z) x[z] = hn::Load(d, to + (z * cube + i) * lanes);
        dct<cube>(d, x);
        for (int z = 0; z < cube; ++z) hn::Store(x[z], d, to + (z * cube + i) * lanes);
      }
    }
  }

  /// Last level of the Haar transform for vectors of 8 lanes. For the lower half a and the upper
  /// half b of a vector, the results are (a + b) / sqrt(2) and (a - b) / sqrt(2).
  static HWY_INLINE V last_level(V v) {
    if constexpr (cubes == 1) {
      return v;
    } else {
      const D d;
      const V swapped = hn::ConcatLowerUpper(d, v, v);
      const V h = hn::Set(d, half_root), minus = hn::Set(d, -half_root);
      return hn::MulAdd(v, hn::ConcatUpperLower(d, minus, h), hn::Mul(swapped, h));
    }
  }

  /// Computes the Haar transform across the group for one vector of coefficients of each cube (4
  /// lanes) or of each pair of cubes (8 lanes). `from` points to the first of these vectors. x[0]
  /// receives the mean over the group.
  static HWY_INLINE void load_haar(const float* from, V* x) {
    const D d;
    for (int u = 0; u < units; ++u) x[u] = hn::Load(d, from + u * vectors * lanes);
    const V h = hn::Set(d, half_root);
    for (int s = 1; s < units; s *= 2)
      for (int k = 0; k < units; k += 2 * s) {
        const V a = x[k], b = x[k + s];
        x[k] = hn::Mul(h, hn::Add(a, b));
        x[k + s] = hn::Mul(h, hn::Sub(a, b));
      }
    x[0] = last_level(x[0]);
  }
  static HWY_INLINE void store_inverse_haar(V* x, float* to) {
    const D d;
    x[0] = last_level(x[0]);
    const V h = hn::Set(d, half_root);
    for (int s = units / 2; s >= 1; s /= 2)
      for (int k = 0; k < units; k += 2 * s) {
        const V a = x[k], b = x[k + s];
        x[k] = hn::Mul(h, hn::Add(a, b));
        x[k + s] = hn::Mul(h, hn::Sub(a, b));
      }
    for (int u = 0; u < units; ++u) hn::Store(x[u], d, to + u * vectors * lanes);
  }

  /// Returns the limit (threshold or noise power) for each lane of x[0], which load_haar() computes
  /// from vector `i` of each cube. The lower 4 lanes contain means over the group, with the limit
  /// `mean`. If `i` is 0, lane 0 contains the mean of all voxels, with the limit `own`. The upper 4
  /// of 8 lanes contain differences within the group, with the limit `all`.
  static HWY_INLINE V first_limit(int i, float all, float mean, float own) {
    const D d;
    const V means = hn::Set(d, mean);
    V limit = means;
    if constexpr (cubes == 2) limit = hn::ConcatUpperLower(d, hn::Set(d, all), means);
    return i == 0 ? hn::IfThenElse(hn::FirstN(d, 1), hn::Set(d, own), limit) : limit;
  }

  float threshold(float* noisy) const {
    const D d;
    V kept = hn::Zero(d);
    const V one = hn::Set(d, 1.0f), all = hn::Set(d, tables_.limit);
    for (int i = 0; i < vectors; ++i) {
      V x[units];
      load_haar(noisy + i * lanes, x);
      const V first = first_limit(i, tables_.limit, tables_.limit_mean, -1);
      for (int u = 0; u < units; ++u) {
        const auto keep = hn::Gt(hn::Abs(x[u]), u == 0 ? first : all);
        x[u] = hn::IfThenElseZero(keep, x[u]);
        kept = hn::Add(kept, hn::IfThenElseZero(keep, one));
      }
      store_inverse_haar(x, noisy + i * lanes);
    }
    return hn::GetLane(hn::SumOfLanes(d, kept));
  }

  float wiener(float* noisy, const float* basic) const {
    const D d;
    V energy = hn::Zero(d);
    const V one = hn::Set(d, 1.0f), all = hn::Set(d, tables_.limit);
    const float mean = tables_.limit_mean;
    for (int i = 0; i < vectors; ++i) {
      V b[units];
      load_haar(basic + i * lanes, b);
      const V first = first_limit(i, tables_.limit, mean, 0);
      // A coefficient without noise power has the Wiener factor 1. The divisor 1 avoids 0 / 0.
      const V divisor = first_limit(i, tables_.limit, mean > 0 ? mean : 1, 1);
      for (int u = 0; u < units; ++u) {
        const V power = hn::MulAdd(b[u], b[u], u == 0 ? divisor : all);
        b[u] = hn::Sub(one, hn::Div(u == 0 ? first : all, power));
        if constexpr (cube == 3) b[u] = hn::IfThenElseZero(hn::Lt(in_cube(), hn::Set(d, 3)), b[u]);
        energy = hn::MulAdd(b[u], b[u], energy);
      }
      V x[units];
      load_haar(noisy + i * lanes, x);
      for (int u = 0; u < units; ++u) x[u] = hn::Mul(x[u], b[u]);
      store_inverse_haar(x, noisy + i * lanes);
    }
    return hn::GetLane(hn::SumOfLanes(d, energy));
  }

  /// Returns the numbers 0, 1, 2, 3 in the 4 lanes of each cube.
  static HWY_INLINE V in_cube() {
    const D d;
    alignas(64) constexpr float numbers[8] = {0, 1, 2, 3, 0, 1, 2, 3};
    return hn::Load(d, numbers);
  }

  void add_unit(float* unit, int u, float weight) const {
    const D d;
    const Row row;
    for (int i = 0; i < cube; ++i) {
      V x[4];
      for (int z = 0; z < cube; ++z) x[z] = hn::Load(d, unit + (z * cube + i) * lanes);
      inverse_dct<cube>(d, x);
      for (int z = 0; z < cube; ++z) hn::Store(x[z], d, unit + (z * cube + i) * lanes);
    }
    const auto share = hn::Set(row, weight);
    for (int z = 0; z < cube; ++z) {
      V x[4];
      x[3] = hn::Zero(d);
      for (int i = 0; i < cube; ++i) x[i] = hn::Load(d, unit + (z * cube + i) * lanes);
      inverse_dct<cube>(d, x);
      transpose(d, x);
      inverse_dct<cube>(d, x);
      for (int y = 0; y < cube; ++y) {
        const auto window =
            hn::Mul(share, hn::Load(row, tables_.window.data() + (z * max_cube + y) * 4));
        const auto add = [&](int m, hn::Vec<Row> values) HWY_ATTR {
          float* to = slices_.numerator[slice_[m] + z] + at_[m] + y * slices_.stride;
          hn::StoreU(hn::MulAdd(window, values, hn::LoadU(row, to)), row, to);
        };
        if constexpr (cubes == 1) {
          add(member(u, 0), x[y]);
        } else {
          add(member(u, 0), hn::LowerHalf(row, x[y]));
          add(member(u, 1), hn::UpperHalf(row, x[y]));
        }
      }
    }
  }

  const FilterTables& tables_;
  const FilterSlices& slices_;
  int slice_[count];
  std::ptrdiff_t at_[count];
};

template <int cube>
void filter(const FilterTables& t, const FilterSlices& s, int x, int y, const Group& g) {
  using Wide = hn::CappedTag<float, 8>;
  switch (g.count) {
    case 1:
      return GroupFilter<Row, cube, 1>(t, s, x, y, g).run();
    case 2:
      return GroupFilter<Wide, cube, 2>(t, s, x, y, g).run();
    case 4:
      return GroupFilter<Wide, cube, 4>(t, s, x, y, g).run();
    case 8:
      return GroupFilter<Wide, cube, 8>(t, s, x, y, g).run();
    case 16:
      return GroupFilter<Wide, cube, 16>(t, s, x, y, g).run();
    default:
      return GroupFilter<Wide, cube, 32>(t, s, x, y, g).run();
  }
}

}  // namespace

void filter_group(const FilterTables& tables, const FilterSlices& slices, int x, int y,
                  const Group& group) {
  if (tables.cube == 3)
    filter<3>(tables, slices, x, y, group);
  else
    filter<4>(tables, slices, x, y, group);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::bm4d::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::bm4d::cpu {
HWY_EXPORT(filter_group);
void filter_group(const FilterTables& tables, const FilterSlices& slices, int x, int y,
                  const Group& group) {
  HWY_DYNAMIC_DISPATCH(filter_group)(tables, slices, x, y, group);
}

FilterTables make_tables(const Params& params, Phase phase, float sigma) {
  const bool first = phase == Phase::first;
  const PhaseParams& p = first ? params.hard : params.wiener;
  FilterTables tables{.wiener = !first, .cube = p.cube, .radius = p.radius()};
  tables.limit = first ? params.lambda * sigma : params.mu2 * sigma * sigma;
  tables.limit_mean = tables.limit * (first ? params.lambda_mean : params.mu2_mean);
  tables.axis = kaiser_window(p.kaiser, p.cube);
  for (int z = 0; z < max_cube; ++z)
    for (int y = 0; y < max_cube; ++y)
      for (int x = 0; x < 4; ++x)
        tables.window[(z * max_cube + y) * 4 + x] =
            tables.axis[z] * tables.axis[y] * tables.axis[x];
  return tables;
}
}  // namespace lull::bm4d::cpu
#endif
