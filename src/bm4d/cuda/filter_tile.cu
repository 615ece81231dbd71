// Filtering on the tensor cores, in half precision. A block takes up to 4x4x4 reference cubes; what
// their windows cover lies in shared memory as halves, at each place with the one to its right, and
// there estimates are added up, in 32-bit fixed point, with one addition for each voxel to device
// memory at the end.
//
// A warp filters a group of 16 cubes ("slots"), which never leaves its registers. What a product of
// 16x16 by 16x8 gives lands where the next step wants it; lane (g, t) = (lane / 4, lane % 4) holds,
// for each slice z of the cubes,
//   1. voxels 2t, 2t + 1 (and + 8) of the slice of cubes g (and g + 8), as loaded;
//   2. after the product with the transform of a slice: coefficient g (and + 8) of cubes 2t, 2t + 1
//      (and + 8); the transform along z combines registers;
//   3. after the product across the group: coefficient g (and + 8), group coefficients 2t, 2t + 1
//      (and + 8). Here the shrinkage happens;
//   4. after the product back: coefficients 2t, 2t + 1 (and + 8) of cubes g and g + 8;
//   5. after the inverse along z and the last product: voxels, times the window in a slice.
// Groups of fewer cubes: each of the M stands 16 / M times, which is the transform of M scaled by
// sqrt(16 / M), the rest zeros.
//
// Numbers. Samples enter as the difference from one voxel, which is the same for the reference
// cubes of a block wherever a volume is cut into parts: it lies in the windows of all of them. In
// shared memory meet at a voxel at most 64 groups of 16 cubes of weight 1 and values up to 255 from
// the centre: 2^10 * 255 * 2^13 < 2^31.

#include <algorithm>

#include "bm4d/cuda/kernels.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "cuda/warp.cuh"

namespace lull::bm4d::cuda {
namespace {

constexpr int slots = 16;
constexpr int block_side = 4;      // reference cubes of a block along x and y, and z at most
constexpr float tile_unit = 8192;  // of value 1 times weight 1, in shared memory
constexpr int tile_shift = 11;     // estimate_unit / tile_unit = 2^11

constexpr int threads_of(bool wiener) { return wiener ? 640 : 512; }

/// How a block's shared memory is cut: lengths in words.
struct TilePlan {
  int layers;              // of reference cubes in a block
  int side, pitch, plane;  // rows and columns that windows reach; word of a row, of a slice
  int depth;               // slices
  std::uint32_t inverse;   // 2^16 / side, rounded up

  static constexpr TilePlan of(const PhaseParams& p, int layers) {
    // A cube of 3 is read as one of 4x4x3.
    const int reach = p.window + p.cube - 1,
              side = p.step * (block_side - 1) + reach + (p.cube == 3);
    const int pitch = side | 1;
    return {layers,
            side,
            pitch,
            side * pitch,
            p.step * (layers - 1) + reach,
            (65536u + side - 1) / side};
  }
  /// A power of two, and so few that one voxel is in the windows of all of them.
  static constexpr int most_layers(const PhaseParams& p) {
    const int most = 1 + (2 * p.radius() + p.cube - 1) / p.step;
    return most >= 4 ? 4 : most >= 2 ? 2 : 1;
  }
  __host__ __device__ constexpr int words() const { return (depth * plane + pitch + 3) / 4 * 4; }
  constexpr std::size_t bytes(bool wiener) const {
    return sizeof(std::uint32_t) * words() * (wiener ? 3 : 2);
  }
};

struct TileArgs {
  FilterPlan filter;
  TilePlan tile;
  Ring<float> noisy, basic;
  VolumeSums sums;
  Margins margins;
  ReferenceCubes cubes;
  const std::uint32_t* groups;
  int first_block;  // along z, of those that a volume is cut into; the layer at its end is its own
};

/// What addresses are made of: part of the instructions where a profile has it (window > 0), else
/// as the arguments say.
template <int cube, int window, int step, int layers>
struct Shape {
  static constexpr TilePlan fixed =
      TilePlan::of({.cube = cube, .window = window > 0 ? window : 3, .step = step}, layers);
  int radius, apart;  // of the window, between reference cubes
  TilePlan tile;

  __device__ __forceinline__ explicit Shape(const TileArgs& a)
      : radius(window > 0 ? window / 2 : a.cubes.params.radius()),
        apart(window > 0 ? step : a.cubes.params.step),
        tile(window > 0 ? fixed : a.tile) {}
  __device__ __forceinline__ int position(int index, int length) const {
    return min(index * apart, length - cube);
  }
};

/// Where the block is: its first reference cube, and the first voxel of the tile.
struct BlockPlace {
  int x, y, z;      // of the first reference cube
  int first_layer;  // its layer among those that are filtered; may be below 0
  int start;        // in a slice, of the tile's first voxel
  float level;

  template <class Shape>
  __device__ __forceinline__ BlockPlace(const TileArgs& a, const Shape& shape) {
    const int cube = a.cubes.params.cube;
    x = shape.position(blockIdx.x * block_side, a.margins.width);
    y = shape.position(blockIdx.y * block_side, a.margins.height);
    const int block = a.first_block + static_cast<int>(blockIdx.z);
    z = a.first_block < 0 ? a.cubes.z : block * shape.tile.layers * shape.apart;
    first_layer = (z - a.cubes.z) / shape.apart;
    start = a.margins.at(x - shape.radius, y - shape.radius);
    const int layers = a.first_block < 0 ? 1 : shape.tile.layers;
    const int middle = min(z + ((layers - 1) * shape.apart + cube) / 2, a.cubes.there.end - 1);
    level = a.noisy.at(max(middle, a.cubes.there.first))[a.margins.at(x + cube / 2, y + cube / 2)];
  }
};

constexpr int most_slices = 32;  // of a tile

/// The places of the tile's slices in each ring; those that do not exist are the nearest ones.
struct SlicePlaces {
  int noisy[most_slices], basic[most_slices], sums[most_slices];
  bool exists[most_slices];

  template <class Shape>
  __device__ __forceinline__ void find(const TileArgs& a, const Shape& shape, int first) {
    const int k = threadIdx.x;
    if (k >= shape.tile.depth) return;
    const int z = min(max(first + k, a.cubes.there.first), a.cubes.there.end - 1);
    noisy[k] = z % a.noisy.depth;
    basic[k] = z % a.basic.depth;
    sums[k] = z % a.sums.numerator.depth;
    exists[k] = z == first + k;
  }
};

/// A row of the tile: its slice, its first word, and its first place in the slice.
struct TileRow {
  int slice, word, place;
  template <class Shape>
  __device__ __forceinline__ TileRow(const Shape& shape, int row, int start, int pitch) {
    slice = static_cast<int>(row * shape.tile.inverse >> 16);
    const int y = row - slice * shape.tile.side;
    word = slice * shape.tile.plane + y * shape.tile.pitch;
    place = start + y * pitch;
  }
};

/// A warp takes several rows at a time: as many loads are on their way.
template <bool wiener, int warps, class Shape>
__device__ __forceinline__ void load_tile(const TileArgs& a, const Shape& shape,
                                          const BlockPlace& at, const SlicePlaces& slices,
                                          std::uint32_t* noisy, std::uint32_t* basic) {
  constexpr int together = wiener ? 4 : 6;
  const int lane = threadIdx.x % 32, rows = shape.tile.depth * shape.tile.side;
  const auto pair = [&](float v) {
    v -= at.level;
    return pack_halves(v, __shfl_down_sync(~0u, v, 1));
  };
  for (int first = threadIdx.x / 32; first < rows; first += together * warps) {
    float of_noisy[together], of_basic[together];
    int word[together];
#pragma unroll
    for (int i = 0; i < together; ++i) {
      const int row = min(first + i * warps, rows - 1);
      const TileRow own(shape, row, at.start + lane, a.margins.pitch);
      word[i] = own.word + lane;
      of_noisy[i] = __ldg(a.noisy.data + slices.noisy[own.slice] * a.noisy.slice + own.place);
      if (wiener)
        of_basic[i] = __ldg(a.basic.data + slices.basic[own.slice] * a.basic.slice + own.place);
    }
#pragma unroll
    for (int i = 0; i < together; ++i) {
      const std::uint32_t n = pair(of_noisy[i]), b = wiener ? pair(of_basic[i]) : 0u;
      if (lane >= shape.tile.pitch) continue;
      noisy[word[i]] = n;
      if (wiener) basic[word[i]] = b;
    }
  }
}

/// The tile's sums to device memory.
template <int warps, class Shape>
__device__ __forceinline__ void add_tile(const TileArgs& a, const Shape& shape,
                                         const BlockPlace& at, const SlicePlaces& slices,
                                         const int* sums) {
  const int lane = threadIdx.x % 32, rows = shape.tile.depth * shape.tile.side;
  if (lane >= shape.tile.side) return;
#pragma unroll 4
  for (int row = threadIdx.x / 32; row < rows; row += warps) {
    const TileRow own(shape, row, at.start + lane, a.margins.pitch);
    const int v = sums[own.word + lane];
    if (v != 0 && slices.exists[own.slice])
      atomicAdd(a.sums.numerator.data + slices.sums[own.slice] * a.sums.numerator.slice + own.place,
                static_cast<Sum>(static_cast<long long>(v) * (1 << tile_shift)));
  }
}

/// The factors of the transforms that a lane needs, as operands of the products.
struct Operands {
  std::uint32_t slice[4];      // voxels of a slice to coefficients
  std::uint32_t group[2][2];   // cubes to group coefficients 0..7, 8..15
  std::uint32_t cubes[4];      // and back
  std::uint32_t voxels[2][2];  // coefficients to voxels 0..7, 8..15, times the window
  float window[2][2];          // of these voxels

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

/// The DCT along z of 3 or 4 values, two at a time, and its inverse.
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

/// The group's spectrum, [z][group coefficients 0..7 | 8..15][coefficients of a slice likewise].
template <int cube>
struct Spectrum {
  __half2 at[cube][2][2];

  /// `word`: of the lane's first voxels in the tile, of cubes g and g + 8.
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

  /// Calls use(two coefficients, whether the first is of the group's mean, of all the group).
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

/// Keeps what is above the threshold; gives the number of these coefficients.
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

/// The factors, made of the basic estimate in `group`; gives the sum of their squares.
template <int cube>
__device__ __forceinline__ float wiener_factors(Spectrum<cube>& group, const FilterPlan& plan,
                                                float scale, int lane) {
  const float noise = plan.limit * scale * scale, noise_mean = plan.limit_mean * scale * scale;
  float energy = 0;
  group.each(lane, [&](__half2& c, bool mean, bool all, int, int, int) {
    const float2 v = __half22float2(c);
    const float own = mean ? noise_mean : noise;
    float low = __fdividef(v.x * v.x, fmaf(v.x, v.x, own));
    if (own == 0) low = v.x != 0 ? 1.0f : 0.0f;  // nothing is divided by nothing
    if (all) low = 1;
    const float high = __fdividef(v.y * v.y, fmaf(v.y, v.y, noise));
    energy = fmaf(low, low, fmaf(high, high, energy));
    c = __floats2half2_rn(low, high);
  });
  // Whole numbers: the sum does not depend on the order in which lanes are added.
  return static_cast<float>(warp_sum(static_cast<int>(energy * 65536.0f))) * (1 / 65536.0f);
}

/// Back to voxels, which are added to the tile's sums with this weight.
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
  constexpr float magic =
      12582912.0f;  // 1.5 * 2^23: added to a float it rounds it, and the low bits
#pragma unroll      // are those of the whole number
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

/// `window` and `step`: 0 and 1 where they are what the arguments say.
template <int cube, bool wiener, int window = 0, int step = 1, int fixed_layers = 1>
__global__ void __launch_bounds__(threads_of(wiener), wiener ? 1 : 2)
    filter_kernel(const __grid_constant__ TileArgs a) {
  extern __shared__ uint4 aligned_memory[];
  const Shape<cube, window, step, fixed_layers> shape(a);
  const TilePlan& tile = shape.tile;
  auto* const noisy = reinterpret_cast<std::uint32_t*>(aligned_memory);
  std::uint32_t* const basic = noisy + tile.words();  // of the second phase
  int* const sums = reinterpret_cast<int*>(noisy + tile.words() * (wiener ? 2 : 1));
  const int members = a.cubes.params.group;
  constexpr int warps = threads_of(wiener) / 32;
  __shared__ SlicePlaces slices;
  const BlockPlace at(a, shape);
  slices.find(a, shape, at.z - shape.radius);
  __syncthreads();
  load_tile<wiener, warps>(a, shape, at, slices, noisy, basic);
  for (int i = threadIdx.x; i < tile.words(); i += threads_of(wiener)) sums[i] = 0;
  const int lane = threadIdx.x % 32, g = lane >> 2, t = lane & 3;
  const Operands operands(a.filter, lane);
  __syncthreads();

  const int layers = a.first_block < 0 ? 1 : tile.layers;
  for (int k = threadIdx.x / 32; k < block_side * block_side * layers; k += warps) {
    const int i = blockIdx.x * block_side + (k & 3), j = blockIdx.y * block_side + (k >> 2 & 3);
    const int layer = at.first_layer + (k >> 4);
    if (i >= a.cubes.columns || j >= a.cubes.rows || layer < 0 || layer >= a.cubes.layers) continue;
    const std::uint32_t entry =
        lane < members
            ? a.groups[(static_cast<std::size_t>(layer * a.cubes.rows + j) * a.cubes.columns + i) *
                           members +
                       lane]
            : 0u;
    const int count = static_cast<int>(__shfl_sync(~0u, entry, 0) >> 24), times = slots / count;
    const std::uint32_t member =
        __shfl_sync(~0u, lane == 0 ? 0u : entry, (lane & (slots - 1)) / times);
    // In the tile.
    const int x = shape.position(i, a.margins.width) - at.x + shape.radius + offset_x(member);
    const int y = shape.position(j, a.margins.height) - at.y + shape.radius + offset_y(member);
    const int z = (k >> 4) * shape.apart + shape.radius + offset_z(member);
    const int own = z * tile.plane + y * tile.pitch + x;
    int word[2];
#pragma unroll
    for (int h = 0; h < 2; ++h)
      word[h] = __shfl_sync(~0u, own, g + 8 * h) + (t >> 1) * tile.pitch + 2 * (t & 1);

    const float scale = sqrtf(static_cast<float>(times));
    Spectrum<cube> group;
    float total;
    if constexpr (wiener) {
      Spectrum<cube> factors;
      factors.load(basic, word, tile, operands);
      total = wiener_factors(factors, a.filter, scale, lane);
      group.load(noisy, word, tile, operands);
      group.each(lane,
                 [&](__half2& c, bool, bool, int n, int b, int r) { c = c * factors.at[n][b][r]; });
    } else {
      group.load(noisy, word, tile, operands);
      total = static_cast<float>(shrink_hard(group, a.filter, scale, lane));
    }
    // As it is added: so estimates and weights belong together.
    const float units =
        rintf(fminf(weight_unit, weight_unit / (total * static_cast<float>(times))));
    if (lane < slots)
      atomicAdd(a.sums.weights.data + slices.sums[z] * a.sums.weights.slice + at.start +
                    y * a.margins.pitch + x,
                static_cast<std::uint32_t>(units));
    add_estimates(group, units / weight_unit, at.level, word, tile, a.filter, operands, lane, sums);
  }
  __syncthreads();
  add_tile<warps>(a, shape, at, slices, sums);
}

using Kernel = void (*)(TileArgs);
template <int cube, bool wiener, int window, int step>
Kernel fixed_kernel(const TilePlan& tile) {
  constexpr PhaseParams p{.cube = cube, .window = window, .step = step};
  constexpr int layers = TilePlan::most_layers(p);
  return tile.layers == layers ? filter_kernel<cube, wiener, window, step, layers> : nullptr;
}
/// Those of the profiles (params.cpp), where a GPU has room for as many layers as there can be.
Kernel fixed_kernel(const PhaseParams& p, bool wiener, const TilePlan& tile) {
  const auto is = [&](int cube, int window, int step, bool second) {
    return p.cube == cube && p.window == window && p.step == step && wiener == second;
  };
  if (is(4, 7, 4, false)) return fixed_kernel<4, false, 7, 4>(tile);
  if (is(4, 7, 3, true)) return fixed_kernel<4, true, 7, 3>(tile);
  if (is(4, 11, 3, false)) return fixed_kernel<4, false, 11, 3>(tile);
  if (is(4, 9, 3, true)) return fixed_kernel<4, true, 9, 3>(tile);
  if (is(4, 11, 2, false)) return fixed_kernel<4, false, 11, 2>(tile);
  if (is(3, 11, 2, true)) return fixed_kernel<3, true, 11, 2>(tile);
  return nullptr;
}
Kernel any_kernel(const PhaseParams& p, bool wiener) {
  if (p.cube == 3) return wiener ? filter_kernel<3, true> : filter_kernel<3, false>;
  return wiener ? filter_kernel<4, true> : filter_kernel<4, false>;
}

}  // namespace

bool detail::filter_groups_in_tiles(const FilterPlan& plan, const Ring<float>& noisy,
                                    const Ring<float>& basic, const Margins& margins,
                                    const ReferenceCubes& cubes, const std::uint32_t* groups,
                                    const VolumeSums& sums, cudaStream_t stream) {
  const PhaseParams& p = cubes.params;
  if (p.group > slots) return false;
  const std::size_t room = lull::cuda::device_limits().dynamic_limit() - sizeof(SlicePlaces);
  int layers = TilePlan::most_layers(p);
  while (layers > 1 && TilePlan::of(p, layers).bytes(plan.wiener) > room) layers /= 2;
  const TilePlan tile = TilePlan::of(p, layers);
  if (tile.bytes(plan.wiener) > room || tile.pitch > 32 || tile.depth > most_slices) return false;

  Kernel kernel = fixed_kernel(p, plan.wiener, tile);
  if (kernel == nullptr) kernel = any_kernel(p, plan.wiener);
  lull::cuda::allow_shared_memory(kernel);
  const auto blocks = [](int count, int side) { return (count + side - 1) / side; };
  // Blocks lie at multiples of their layers, counted from the volume's first.
  const bool at_end = cubes.z % p.step != 0;
  const int first = cubes.z / p.step, first_block = at_end ? -1 : first / layers;
  const int deep = at_end ? 1 : (first + cubes.layers - 1) / layers - first_block + 1;
  kernel<<<dim3(blocks(cubes.columns, block_side), blocks(cubes.rows, block_side), deep),
           threads_of(plan.wiener), tile.bytes(plan.wiener), stream>>>(
      {plan, tile, noisy, basic, sums, margins, cubes, groups, first_block});
  lull::cuda::check(cudaGetLastError());
  return true;
}

}  // namespace lull::bm4d::cuda
