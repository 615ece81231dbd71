#pragma once
// The search windows in shared memory, and the distances of their patches from the reference
// patches (match_layout.h).

// The distance of two patches a and b is |a - b|^2 = |a|^2 + |b|^2 - 2 a b. Tensor cores compute a
// b for eight reference patches at a time, in half precision.

// Each thread block subtracts a common offset from its samples, which limits the rounding error of
// half precision to a thousandth of the differences between patches.

// Lane (g, t) = (lane / 4, lane % 4) processes the even rows (even t) or the odd rows (odd t) of a
// patch in frame t / 2. The offsets of a lane's samples from its first sample are the same for all
// lanes.

#include "bm3d/cuda/bayes/match_layout.h"
#include "bm3d/cuda/bayes/windows.cuh"
#include "cuda/warp.cuh"

namespace lull::bm3d {

constexpr int match_warps = match_threads / 32;
constexpr int tile_rows = 4;  // rows of positions in each half of a tile

struct MatchJob {
  BayesArgs args;
  BayesMatchPlan plan;
  int group;
  float motion_bias;  // in units of sums of squares
};

/// The union of the search windows in a frame pair: its top-left corner, and the range of
/// candidates inside the plane.
struct MatchWindow {
  SearchWindow at;  // position of the first reference patch's window
  int first_x, last_x, first_y, last_y;
};

__device__ inline MatchWindow match_window(const BayesArgs& a, const SearchWindow& at) {
  const int last_x = a.margins.width - a.side, last_y = a.margins.height - a.side;
  return {at, max(0, -at.second_x) - at.left, min(last_x, last_x - at.second_x) - at.left,
          max(0, -at.second_y) - at.top, min(last_y, last_y - at.second_y) - at.top};
}

/// Loads the samples of the search windows in a frame pair, with two columns per lane. Outside the
/// plane, the function repeats the border samples.
template <int Side>
__device__ __forceinline__ void load_window(const BayesArgs& a, const JoinedWindows& w,
                                            const BayesPair& pair, const SearchWindow& at,
                                            const float* guide, float level, std::uint32_t* to) {
  const int columns = w.width + Side - 1, last_x = a.margins.width - 1;
  const int warp = threadIdx.x / 32, frame = warp % w.depth;
  const int left = at.left + frame * at.second_x, top = at.top + frame * at.second_y;
  const float* const from = guide + pair.distance[frame] + a.margins.at(0, 0);
  // Calls use(row, offset of the row in the plane) for the rows of this warp.
  const auto for_rows = [&](auto use) {
#pragma unroll 3
    for (int row = warp / w.depth; row < w.rows; row += match_warps / w.depth)
      use(row, min(max(top + row, 0), a.margins.height - 1) * a.margins.pitch);
  };
  for (int column = threadIdx.x % 32 * 2; column < columns; column += 64) {
    std::uint32_t* const place = to + frame * w.frame + column;
    const auto store = [&](int row, float first, float second, float third) {
      *reinterpret_cast<uint2*>(place + row * w.pitch) = {
          pack_halves(first - level, second - level), pack_halves(second - level, third - level)};
    };
    const int x = left + column;
    if (left >= 0 && left + columns + 1 <= last_x) {
      const float* const samples = from + x;
      for_rows([&](int row, int y) { store(row, samples[y], samples[y + 1], samples[y + 2]); });
    } else {
      const auto inside = [&](int u) { return min(max(u, 0), last_x); };
      const int x0 = inside(x), x1 = inside(x + 1), x2 = inside(x + 2);
      for_rows([&](int row, int y) { store(row, from[y + x0], from[y + x1], from[y + x2]); });
    }
  }
}

/// Computes, for each position in the search windows, the sum of squares of one row of a patch over
/// all frames of the patch.
template <int Side>
__device__ __forceinline__ void sum_squares(const JoinedWindows& w, const std::uint32_t* words,
                                            float* sums) {
  for (int n = threadIdx.x; n < w.rows * w.quads(); n += match_threads) {
    const int row = quotient(n, w.quads_inverse), column = (n - row * w.quads()) * 4;
    float square[Side + 3] = {};
    for (int frame = 0; frame < w.depth; ++frame) {
      std::uint32_t word[12];
#pragma unroll
      for (int c = 0; c < 12; c += 4)
        *reinterpret_cast<uint4*>(word + c) =
            *reinterpret_cast<const uint4*>(words + frame * w.frame + row * w.pitch + column + c);
#pragma unroll
      for (int c = 0; c < Side + 3; ++c) {
        const __half2 pair = halves_of(word[c < 12 ? c / 2 * 2 : 11]);
        const float v = c % 2 == 0 && c < 12 ? __low2float(pair) : __high2float(pair);
        square[c] = fmaf(v, v, square[c]);
      }
    }
    float sum[4] = {};
    if (w.patch == Side) {
      float shared = square[3];  // is part of all four sums
#pragma unroll
      for (int c = 4; c < Side; ++c) shared += square[c];
      const float before = square[1] + square[2], behind = square[Side] + square[Side + 1];
      sum[0] = shared + (square[0] + before), sum[1] = shared + (before + square[Side]);
      sum[2] = shared + (square[2] + behind), sum[3] = shared + (behind + square[Side + 2]);
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int c = 0; c < Side; ++c) sum[k] += c < w.patch ? square[c + k] : 0.0f;
    }
    *reinterpret_cast<float4*>(sums + row * w.sums_pitch + column) = {sum[0], sum[1], sum[2],
                                                                      sum[3]};
  }
}

/// Computes the squared norm of each patch in the search windows from the results of sum_squares().
/// The norm of a patch beyond the plane is infinity.
template <int Side>
__device__ __forceinline__ void sum_rows(const JoinedWindows& w, const MatchWindow& window,
                                         float* sums) {
  for (int n = threadIdx.x; n < w.width * w.height; n += match_threads) {
    const int y = quotient(n, w.width_inverse), x = n - y * w.width;
    const float* const first = sums + y * w.sums_pitch + x;
    float sum = 0;
    if (w.patch == Side) {
#pragma unroll
      for (int row = 0; row < Side; ++row) sum += first[row * w.sums_pitch];
    } else {
      for (int row = 0; row < w.patch; ++row) sum += first[row * w.sums_pitch];
    }
    const bool inside =
        (x >= window.first_x) & (x <= window.last_x) & (y >= window.first_y) & (y <= window.last_y);
    sums[w.row_sums() + y * w.sums_pitch + x] = inside ? sum : __uint_as_float(infinite);
  }
}

/// The data of the reference patches that one lane needs, from the reference frame.
template <int Side>
struct References {
  // Samples of reference patch g in frame t / 2, for lane (g, t) = (lane / 4, lane % 4): even rows
  // if t is even, and odd rows if t is odd.
  static constexpr int own = Side / 2;
  std::uint32_t samples[own][own];  // samples of reference patch g
  // Data of the reference patches 2t and 2t + 1, where t is lane % 4.
  int dx[2], dy[2];  // position relative to the first reference patch of the block
  float squares[2];
  std::uint32_t* distances[2];
};

/// Returns the offset of the first sample of a lane from the top-left sample of a patch.
__device__ __forceinline__ int lane_offset(const JoinedWindows& w, int t) {
  return (w.depth == 2 ? t / 2 * w.frame : 0) + t % 2 * w.pitch;
}
/// Loads the data of the reference patches. `dx` and `dy` are their offsets from the first
/// reference patch of the block, or invalid_reference for unused elements.
template <int Side>
__device__ __forceinline__ void load_references(const JoinedWindows& w, int stride, const int* dx,
                                                const int* dy, const std::uint32_t* words,
                                                const float* sums, std::uint32_t* distances,
                                                References<Side>& r) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, centre = w.side / 2;
  const bool exists = dx[g] < w.width && (w.depth == 2 || t < 2);
  const std::uint32_t* const from =
      words + (exists ? (dy[g] + centre) * w.pitch + dx[g] + centre : 0) + lane_offset(w, t);
#pragma unroll
  for (int m = 0; m < r.own; ++m)
#pragma unroll
    for (int c = 0; c < r.own; ++c) {
      const std::uint32_t word = from[2 * m * w.pitch + 2 * c];
      const bool has = exists && 2 * m + t % 2 < w.patch && 2 * c < w.patch;
      r.samples[m][c] = !has ? 0 : 2 * c + 1 < w.patch ? word : word & 0xffff;
    }
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const int n = 2 * t + e;
    r.dx[e] = dx[n], r.dy[e] = dy[n], r.squares[e] = 0;
    r.distances[e] = distances + n * stride;
    if (dx[n] < w.width)
      r.squares[e] = sums[w.row_sums() + (dy[n] + centre) * w.sums_pitch + dx[n] + centre];
  }
}

/// Computes the inner products of the reference patches with the patches of a tile. product[n]
/// contains the inner products for rows n and n + 4 of the tile.
template <int Side>
__device__ __forceinline__ void multiply_tile(const std::uint32_t* from, int pitch,
                                              const References<Side>& r,
                                              FloatSums (&product)[tile_rows]) {
  constexpr int own = Side / 2;
#pragma unroll
  for (int c = 0; c < own; c += 2)
#pragma unroll
    for (int m = 0; m < own + tile_rows - 1; ++m) {
      const std::uint32_t* const at = from + 2 * m * pitch + 2 * c;
      const int lower = 2 * tile_rows * pitch;
      if (c + 1 < own) {
        const std::uint32_t left[4] = {at[0], at[lower], at[2], at[lower + 2]};
#pragma unroll
        for (int n = 0; n < tile_rows; ++n)
          if (m >= n && m - n < own)
            product[n] = multiply(left, r.samples[m - n][c], r.samples[m - n][c + 1], product[n]);
      } else {
        const std::uint32_t left[2] = {at[0], at[lower]};
#pragma unroll
        for (int n = 0; n < tile_rows; ++n)
          if (m >= n && m - n < own)
            product[n] = multiply(left[0], left[1], r.samples[m - n][c], product[n]);
      }
    }
}

/// Computes and stores the distances of the patches in a tile from the reference patches. Each
/// reference patch has an array of distances. In each array, the distances of this search window
/// begin at index `numbers`.
template <int Side>
__device__ __forceinline__ void compare_tile(const JoinedWindows& w, const std::uint32_t* words,
                                             const float* sums, int tile, int numbers,
                                             const References<Side>& r) {
  constexpr int rows = 2 * tile_rows;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int band = quotient(tile, w.blocks_inverse);
  const int x = (tile - band * w.blocks()) * 8 + g, y = band / 2 * 2 * rows + band % 2;
  FloatSums product[tile_rows];
  multiply_tile(words + y * w.pitch + x + lane_offset(w, t), w.pitch, r, product);
  float squares[rows];
#pragma unroll
  for (int n = 0; n < rows; ++n) squares[n] = sums[w.row_sums() + (y + 2 * n) * w.sums_pitch + x];
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const int column = x - r.dx[e], row = y - r.dy[e];
    // Number of rows with distances to store; 0 if the column is outside the window.
    const unsigned below =
        static_cast<unsigned>(column) < static_cast<unsigned>(w.side) ? w.side : 0;
    std::uint32_t* const to = r.distances[e] + numbers + row * w.side + column;
#pragma unroll
    for (int n = 0; n < rows; ++n) {
      const float twice = product[n % tile_rows].at[n / tile_rows * 2 + e];
      const float distance = fmaf(-2.0f, twice, r.squares[e] + squares[n]);
      if (static_cast<unsigned>(row + 2 * n) < below)
        to[2 * n * w.side] = __float_as_uint(fmaxf(0.0f, distance));
    }
  }
}

}  // namespace lull::bm3d
