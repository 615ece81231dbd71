#pragma once
// Filters a group in the registers of a warp, from loading samples of the tile to adding weighted
// estimates (steps 1 to 5 of filter_tile.cu).

#include "bm4d/cuda/filter_tile.cuh"

namespace lull::bm4d::cuda::filter_detail {

constexpr int slots = 16;

/// The elements of the transform matrices that one lane holds as operands of the tensor cores.
struct Operands {
  std::uint32_t slice[4];      // converts voxels of a slice to coefficients
  std::uint32_t group[2][2];   // converts cubes to group coefficients 0..7, 8..15
  std::uint32_t cubes[4];      // converts group coefficients to cubes
  std::uint32_t voxels[2][2];  // converts coefficients to voxels, multiplied by the window
  float window[2][2];          // aggregation window at these voxels

  __device__ Operands(const FilterPlan& plan, int lane) {
    const int g = lane >> 2, t2 = 2 * (lane & 3);
    const auto planar = [&](int k, int v) {
      return plan.rows[k >> 2][v >> 2] * plan.rows[k & 3][v & 3];
    };
    const auto haar = [](int k, int slot) {
      if (k == 0) return 0.25f;
      const int level = 31 - __clz(k), length = slots >> level;
      const int place = slot - (k - (1 << level)) * length;
      if (place < 0 || place >= length) return 0.0f;
      return rsqrtf(static_cast<float>(length)) * (place < length / 2 ? 1.0f : -1.0f);
    };
    const auto in_slice = [&](int v) { return plan.window[v >> 2] * plan.window[v & 3]; };
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = g + 8 * (i & 1), column = t2 + 8 * (i >> 1);
      slice[i] = pack_halves(planar(row, column), planar(row, column + 1));
      cubes[i] = pack_halves(haar(column, row), haar(column + 1, row));
    }
#pragma unroll
    for (int b = 0; b < 2; ++b) {
      const int n = g + 8 * b;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int k = t2 + 8 * i;
        group[b][i] = pack_halves(haar(n, k), haar(n, k + 1));
        voxels[b][i] = pack_halves(planar(k, n) * in_slice(n), planar(k + 1, n) * in_slice(n));
        window[b][i] = in_slice(t2 + 8 * b + i);
      }
    }
  }
};

/// Returns element (k, z) of the DCT matrix along z, for cubes of side 3 or 4.
template <int cube>
__device__ __forceinline__ __half2 factor(int k, int z) {
  constexpr double of_4[4][4] = {{0.5, 0.5, 0.5, 0.5},
                                 {0.6532814824, 0.2705980501, -0.2705980501, -0.6532814824},
                                 {0.5, -0.5, -0.5, 0.5},
                                 {0.2705980501, -0.6532814824, 0.6532814824, -0.2705980501}};
  constexpr double of_3[4][4] = {{0.5773502692, 0.5773502692, 0.5773502692},
                                 {0.7071067812, 0, -0.7071067812},
                                 {0.4082482905, -0.8164965809, 0.4082482905}};
  return __float2half2_rn(static_cast<float>(cube == 4 ? of_4[k][z] : of_3[k][z]));
}
template <int cube>
__device__ __forceinline__ void transform_z(__half2 (&x)[cube]) {
  if constexpr (cube == 4) {
    const __half2 s = x[0] + x[3], u = x[1] + x[2], d = x[0] - x[3], e = x[1] - x[2];
    x[0] = (s + u) * factor<4>(0, 0);
    x[2] = (s - u) * factor<4>(0, 0);
    x[1] = __hfma2(factor<4>(1, 0), d, factor<4>(1, 1) * e);
    x[3] = __hfma2(factor<4>(1, 1), d, -(factor<4>(1, 0) * e));
  } else {
    const __half2 s = x[0] + x[2], d = x[0] - x[2], m = x[1];
    x[0] = (s + m) * factor<3>(0, 0);
    x[1] = d * factor<3>(1, 0);
    x[2] = __hfma2(factor<3>(2, 1), m, s * factor<3>(2, 0));
  }
}
template <int cube>
__device__ __forceinline__ void inverse_z(__half2 (&x)[cube]) {
  if constexpr (cube == 4) {
    const __half2 p = (x[0] + x[2]) * factor<4>(0, 0), q = (x[0] - x[2]) * factor<4>(0, 0);
    const __half2 u = __hfma2(factor<4>(1, 0), x[1], factor<4>(1, 1) * x[3]);
    const __half2 v = __hfma2(factor<4>(1, 1), x[1], -(factor<4>(1, 0) * x[3]));
    x[0] = p + u, x[3] = p - u, x[1] = q + v, x[2] = q - v;
  } else {
    const __half2 mean = x[0] * factor<3>(0, 0), e = __hfma2(factor<3>(2, 0), x[2], mean);
    const __half2 o = x[1] * factor<3>(1, 0);
    x[1] = __hfma2(factor<3>(2, 1), x[2], mean);
    x[0] = e + o, x[2] = e - o;
  }
}

/// The coefficients of a group in one lane, as at[z][b][r]:
/// - z is the index along z.
/// - b selects the Haar indices 0..7 (0) or 8..15 (1).
/// - r selects coefficients 0..7 (0) or 8..15 (1) of a slice.
template <int cube>
struct Spectrum {
  __half2 at[cube][2][2];

  /// Loads and transforms the group. With g = lane / 4, the lane loads words of the cubes g and g +
  /// 8, beginning with tile[word[0]] for cube g, and with tile[word[1]] for cube g + 8.
  __device__ __forceinline__ void load(const std::uint32_t* tile, const int (&word)[2],
                                       const TilePlan& plan, const Operands& operands) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      __half2 slices[2][cube];
#pragma unroll
      for (int z = 0; z < cube; ++z) {
        const std::uint32_t* from = tile + word[h] + z * plan.plane;
        const HalfSums c = multiply(operands.slice, from[0], from[2 * plan.pitch], HalfSums{});
        slices[0][z] = halves_of(c.at[0]), slices[1][z] = halves_of(c.at[1]);
      }
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        transform_z<cube>(slices[r]);
#pragma unroll
        for (int z = 0; z < cube; ++z) at[z][h][r] = slices[r][z];
      }
    }
#pragma unroll
    for (int z = 0; z < cube; ++z) {
      const std::uint32_t a[4] = {word_of(at[z][0][0]), word_of(at[z][0][1]), word_of(at[z][1][0]),
                                  word_of(at[z][1][1])};
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        const HalfSums c = multiply(a, operands.group[b][0], operands.group[b][1], HalfSums{});
        at[z][b][0] = halves_of(c.at[0]), at[z][b][1] = halves_of(c.at[1]);
      }
    }
  }

  /// Calls use(coefficients, in_mean, is_mean, z, b, r) for each pair of coefficients. The flags
  /// describe the first coefficient of the pair:
  /// - `in_mean`: it belongs to the mean cube, the mean of all cubes of the group.
  /// - `is_mean`: it is the mean of all voxels of the group.
  template <class Use>
  __device__ __forceinline__ void each(int lane, Use use) {
#pragma unroll
    for (int z = 0; z < cube; ++z)
#pragma unroll
      for (int b = 0; b < 2; ++b)
#pragma unroll
        for (int r = 0; r < 2; ++r)
          use(at[z][b][r], b == 0 && (lane & 3) == 0, z == 0 && b == 0 && r == 0 && lane == 0, z, b,
              r);
  }
};

/// Hard thresholding: sets coefficients up to the threshold to 0, except the overall mean. Returns
/// the number of retained coefficients.
template <int cube>
__device__ __forceinline__ int shrink_hard(Spectrum<cube>& group, const FilterPlan& plan,
                                           float scale, int lane) {
  const float limit = plan.limit * scale, limit_mean = plan.limit_mean * scale;
  __half2 kept = __float2half2_rn(0.0f);
  group.each(lane, [&](__half2& c, bool mean, bool all, int, int, int) {
    const __half2 bound = __floats2half2_rn(all ? -1.0f : mean ? limit_mean : limit, limit);
    const __half2 keep = __hgt2(__habs2(c), bound);
    kept = kept + keep;
    c = c * keep;
  });
  return warp_sum(static_cast<int>(__low2float(kept) + __high2float(kept)));
}

/// Replaces the coefficients of the basic estimate in `group` by Wiener factors. Returns the sum of
/// their squares.
template <int cube>
__device__ __forceinline__ float wiener_factors(Spectrum<cube>& group, const FilterPlan& plan,
                                                float scale, int lane) {
  const float noise = plan.limit * scale * scale, noise_mean = plan.limit_mean * scale * scale;
  float energy = 0;
  group.each(lane, [&](__half2& c, bool mean, bool all, int, int, int) {
    const float2 v = __half22float2(c);
    const float own = mean ? noise_mean : noise;
    float low = __fdividef(v.x * v.x, fmaf(v.x, v.x, own));
    if (own == 0) low = v.x != 0 ? 1.0f : 0.0f;  // avoids 0 / 0
    if (all) low = 1;
    const float high = __fdividef(v.y * v.y, fmaf(v.y, v.y, noise));
    energy = fmaf(low, low, fmaf(high, high, energy));
    c = __floats2half2_rn(low, high);
  });
  // The sum is an integer, so the result does not depend on the order of additions.
  return static_cast<float>(warp_sum(static_cast<int>(energy * 65536.0f))) * (1 / 65536.0f);
}

/// Transforms the group back to voxels, and adds the voxels, multiplied by `weight`, to the sums of
/// the tile.
template <int cube>
__device__ __forceinline__ void add_estimates(const Spectrum<cube>& group, float weight,
                                              float level, const int (&word)[2],
                                              const TilePlan& plan, const FilterPlan& filter,
                                              const Operands& operands, int lane, int* sums) {
  __half2 back[2][2][cube];  // [coefficients 2t.. | + 8][cubes g | g + 8][z]
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int z = 0; z < cube; ++z) {
      const HalfSums c = multiply(operands.cubes, word_of(group.at[z][0][r]),
                                  word_of(group.at[z][1][r]), HalfSums{});
      back[r][0][z] = halves_of(c.at[0]), back[r][1][z] = halves_of(c.at[1]);
    }
    inverse_z<cube>(back[r][0]);
    inverse_z<cube>(back[r][1]);
  }
  const int t = lane & 3;
  const float scale = weight * tile_unit, shift = (level - estimate_centre) * scale;
  // After the addition of 1.5 * 2^23 to a float, the low bits contain the float, rounded to an
  // integer.
  constexpr float magic = 12582912.0f;
#pragma unroll
  for (int z = 0; z < cube; ++z) {
    const std::uint32_t a[4] = {word_of(back[0][0][z]), word_of(back[0][1][z]),
                                word_of(back[1][0][z]), word_of(back[1][1][z])};
    const float own = filter.window[z] * scale, own_shift = filter.window[z] * shift;
#pragma unroll
    for (int b = 0; b < 2; ++b) {
      const FloatSums v = multiply(a, operands.voxels[b][0], operands.voxels[b][1], FloatSums{});
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float sum = fmaf(v.at[i], own, fmaf(operands.window[b][i & 1], own_shift, magic));
        if (cube == 4 || ((t >> 1) + 2 * b < cube && 2 * (t & 1) + (i & 1) < cube))
          atomicAdd(&sums[word[i / 2] + z * plan.plane + 2 * b * plan.pitch + (i & 1)],
                    __float_as_int(sum) - __float_as_int(magic));
      }
    }
  }
}

}  // namespace lull::bm4d::cuda::filter_detail
