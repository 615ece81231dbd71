// The motion search of motion.h on a GPU, from one frame to several other frames.

// The cost of a vector is |a|^2 + |b|^2 - 2 * a.b. a is the region of a motion block, b is the
// shifted region of the other frame, and a.b is their inner product. Tensor cores compute a.b.

// Tensor cores multiply two matrices. Row dx of the first matrix is a row of the other frame,
// shifted by dx. Column dy of the second matrix is the row of the region that a vertical shift by
// dy moves onto this row.

// The kernel computes |b|^2 in two steps. First, it sums the squared samples in each row of the
// other frame, for each possible left edge of b. Then it adds these sums over the rows of b.

#include <algorithm>

#include "cuda/check.h"
#include "cuda/warp.cuh"
#include "time/kernels.h"
#include "time/motion_tiles.cuh"

namespace lull {
namespace {

constexpr int warps = motion_threads / 32;
// Side of a region in downsampled samples (means of 4x4 samples). The addition of 1 is for regions
// that do not begin at the edge of a downsampled sample. Such regions overlap one more downsampled
// sample.
constexpr int coarse_side = motion_region / coarse + 1;
constexpr int coarse_vectors = 2 * prediction_reach + 1;  // vectors per row, and number of rows
constexpr int fine_vectors = 2 * motion_refinement + 1;
constexpr int quads = (coarse_vectors + 3) / 4;  // groups of 4 vectors in a column
static_assert(coarse_vectors * quads <= motion_threads &&
              fine_vectors * fine_vectors <= motion_threads);

using Key = unsigned long long;
constexpr std::uint32_t none = ~0u;
/// Returns the rank of a vector among vectors of equal cost: first the centre of the search, then
/// all other vectors row by row.
__device__ std::uint32_t order_of(int index, int side) {
  return index == side * side / 2 ? 0 : 1 + index;
}
__device__ int2 vector_of(Key key, int reach) {
  const int side = 2 * reach + 1, order = static_cast<int>(key & 0xffffffffu);
  const int index = order == 0 ? side * side / 2 : order - 1;
  return {index % side - reach, index / side - reach};
}
/// Returns the minimum key in a warp. A key consists of the cost of a vector (high bits) and the
/// vector's rank among vectors of equal cost. Each lane passes one vector, or the cost `none`.
__device__ Key least_in_warp(std::uint32_t cost, std::uint32_t order) {
  const std::uint32_t least = warp_min(cost);
  return static_cast<Key>(least) << 32 | warp_min(cost == least ? order : none);
}

/// Sizes of a complete region, in samples and in downsampled samples (means of 4x4 samples). Most
/// regions are complete.
struct WholeRegion {
  static constexpr int columns = motion_region, rows = motion_region;
  static constexpr int coarse_columns = motion_region / coarse, coarse_rows = coarse_columns;
};
struct PartOfRegion {
  int columns, rows, coarse_columns, coarse_rows;
  constexpr bool is_whole() const {
    return columns == WholeRegion::columns && rows == WholeRegion::rows &&
           coarse_columns == WholeRegion::coarse_columns && coarse_rows == WholeRegion::coarse_rows;
  }
};

struct MotionArgs {
  int width, height;  // size of the luma (or green) plane
  float sigma;
  MainBytes frame;
  struct Other {
    MainBytes bytes;
    Motion* cells;
  } others[2 * max_temporal];
};

/// The region of a motion block, with rows of zeros above and below. The zeros take part in the
/// products for those rows of the other frame that a vector shifts beyond the region. Threads can
/// read eight successive rows without bank conflicts.
constexpr int coarse_above = 3 * 8 - 1, fine_above = 8 - 2;
template <int side, int height>
using OwnTile = Tile<side, height, words_for(side)>;

/// Number of warps that compute inner products in step 1 of motion.h. One further warp computes
/// sums of squares.
constexpr int coarse_warps = warps - 1;
/// Inner products of the region of a motion block with the shifted regions, for step 1 of motion.h.
/// Each warp computes a part of the sum for the vector with the indices dx and dy, and stores the
/// part in at[warp][dx][dy].
struct CoarseProducts {
  // The array is aligned to 8 bytes, because store_pair() writes two products at a time.
  alignas(8) std::uint32_t at[coarse_warps][coarse_vectors][coarse_vectors + 1];
};

struct Shared {
  OwnTile<coarse_side, coarse_above + coarse_side + coarse_vectors> own_coarse;
  SearchArea<coarse_side, coarse_vectors> coarse;
  OwnTile<motion_region, fine_above + motion_region + fine_vectors + 1> own;
  union {
    CoarseProducts coarse_products;
    SearchArea<motion_region, fine_vectors> fine;  // memory that is used after coarse_products
  };
  std::uint32_t own_coarse_squares;
  /// Inner products of a region with the shifted regions, for step 2 of motion.h. Tensor cores
  /// process two successive rows of the other frame together, and sum over the first and over the
  /// second rows of these pairs. For the vector (dx, dy), each warp stores two sums:
  /// - over the first rows: products[warp][0][dx][dy + 1]
  /// - over the second rows: products[warp][1][dx][dy]
  alignas(8) std::uint32_t products[warps][2][8][8];
  struct Squares {
    std::uint32_t own;                    // |a|^2
    std::uint32_t still, still_products;  // |b|^2 and ab at zero motion
  } squares_of[warps];
  std::uint32_t zero_motion_cost;
  Key least_of[warps];

  __device__ std::uint32_t product(int dx, int dy) const {
    std::uint32_t sum = 0;
    for (int warp = 0; warp < warps; ++warp)
      sum += products[warp][0][dx][dy + 1] + products[warp][1][dx][dy];
    return sum;
  }
  __device__ Squares squares() const {
    Squares sum = squares_of[0];
    for (int warp = 1; warp < warps; ++warp) {
      sum.own += squares_of[warp].own;
      sum.still += squares_of[warp].still;
      sum.still_products += squares_of[warp].still_products;
    }
    return sum;
  }
  __device__ Key least() const {
    Key key = least_of[0];
    for (int warp = 1; warp < warps; ++warp) key = min(key, least_of[warp]);
    return key;
  }
};

/// Returns whether the interval is inside 0..length after a shift by `v`.
__device__ bool stays(const Interval& i, int v, int length) {
  return i.first + v >= 0 && i.end + v <= length;
}

/// Stores two adjacent elements of a matrix product. The index of the first element must be even.
__device__ void store_pair(std::uint32_t* to, int first, int second) {
  *reinterpret_cast<uint2*>(to) =
      make_uint2(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second));
}

/// Computes the inner products of the region with the shifted regions for step 1 of motion.h, over
/// the rows that `warp` processes. `warp` is below `coarse_warps`.
__device__ __forceinline__ void multiply_coarse(int rows, int warp, int lane, Shared& s) {
  const int group = lane / 4, word = lane % 4;
  const int first_word = word + group / 4, shift = group % 4;
  int sums[2][3][4] = {};  // dx from 0 and from 16 on; dy from 0, from 8 and from 16 on
  for (int row = 2 * warp; row < rows + coarse_vectors - 1; row += 2 * coarse_warps) {
    std::uint32_t there[2][3];  // dx from 0, from 8 and from 16 on
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int i = 0; i < 3; ++i)
        there[h][i] = cut(s.coarse.tile.at(row + h, first_word + 2 * i),
                          s.coarse.tile.at(row + h, first_word + 2 * i + 1), shift);
    const std::uint32_t low[4] = {there[0][0], there[0][1], there[1][0], there[1][1]};
    const std::uint32_t high[4] = {there[0][2], 0, there[1][2], 0};
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      const int own_row = row + coarse_above - 8 * j - group;
      const std::uint32_t a = s.own_coarse.at(own_row, word);
      const std::uint32_t b = s.own_coarse.at(own_row + 1, word);
      mma_u8(sums[0][j], low, a, b);
      mma_u8(sums[1][j], high, a, b);
    }
  }
  auto& products = s.coarse_products.at[warp];
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    const int dy = 8 * j + 2 * word;
    if (dy >= coarse_vectors) continue;
    store_pair(&products[group][dy], sums[0][j][0], sums[0][j][1]);
    store_pair(&products[group + 8][dy], sums[0][j][2], sums[0][j][3]);
    if (group == 0) store_pair(&products[16][dy], sums[1][j][0], sums[1][j][1]);
  }
}
static_assert(coarse_vectors == 17 && words_for(coarse_side) == 4);

/// Computes, with one warp, two terms of the cost in step 1 of motion.h: |a|^2, and the sums of
/// squares in rows, from which |b|^2 follows.
__device__ __forceinline__ void square_coarse(int columns, int rows, int lane, Shared& s) {
  for (int row = lane; row < rows + coarse_vectors - 1; row += 32) s.coarse.sum_row(row, columns);
  std::uint32_t squares = 0;
  for (int i = lane; i < rows * words_for(coarse_side); i += 32) {
    const std::uint32_t p =
        s.own_coarse.at(coarse_above + i / words_for(coarse_side), i % words_for(coarse_side));
    squares = __dp4a(p, p, squares);
  }
  squares = static_cast<std::uint32_t>(warp_sum(static_cast<int>(squares)));
  if (lane == 0) s.own_coarse_squares = squares;
}

/// Performs the search in downsampled planes (step 1 of motion.h).
template <class Size>
__device__ void search_coarse(const Size& size, const Interval& x, const Interval& y, int width,
                              int height, Shared& s) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp < coarse_warps)
    multiply_coarse(size.coarse_rows, warp, lane, s);
  else
    square_coarse(size.coarse_columns, size.coarse_rows, lane, s);
  __syncthreads();
  const int dx = threadIdx.x % coarse_vectors, quad = threadIdx.x / coarse_vectors;
  std::uint32_t cost = none, order = none;
  if (quad < quads && stays(x, dx - prediction_reach, width)) {
    std::uint32_t squares = s.coarse.squares_at(dx, 4 * quad, size.coarse_rows);
    for (int dy = 4 * quad; dy < min(4 * quad + 4, coarse_vectors); ++dy) {
      std::uint32_t product = 0;
      for (int k = 0; k < coarse_warps; ++k) product += s.coarse_products.at[k][dx][dy];
      const std::uint32_t c = s.own_coarse_squares + squares - 2 * product;
      const std::uint32_t o = order_of(dy * coarse_vectors + dx, coarse_vectors);
      if (stays(y, dy - prediction_reach, height) && (c < cost || (c == cost && o < order)))
        cost = c, order = o;
      if (dy + 1 < coarse_vectors)
        squares += s.coarse.squares[dy + size.coarse_rows][dx] - s.coarse.squares[dy][dx];
    }
  }
  const Key key = least_in_warp(cost, order);
  if (lane == 0) s.least_of[warp] = key;
}

/// Returns whether the zero vector is one of the vectors around `centre`.
__device__ bool has_zero_motion(int2 centre) {
  return max(abs(centre.x), abs(centre.y)) <= motion_refinement;
}

/// Computes the inner products of the region with the shifted regions for step 2 of motion.h, the
/// search at full resolution. Each iteration processes four rows of 48 samples.
__device__ __forceinline__ void multiply_fine(int rows, int warp, int lane, Shared& s) {
  const int group = lane / 4, word = lane % 4;
  const int first_word = word + group / 4, shift = group % 4;
  int sums[4] = {};
  // The last warp begins with the first rows, so the first warps may get fewer rows. This
  // distribution balances the load, because the first warps have already computed the sums of
  // squares.
  for (int row = 4 * (warps - 1 - warp); row < rows + fine_vectors - 1; row += 4 * warps) {
    std::uint32_t there[2][3][2], own[2][3];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair)
#pragma unroll
      for (int k = 0; k < 3; ++k) {
#pragma unroll
        for (int h = 0; h < 2; ++h)
          there[pair][k][h] =
              cut(s.fine.tile.at(row + 2 * pair + h, first_word + 4 * k),
                  s.fine.tile.at(row + 2 * pair + h, first_word + 4 * k + 1), shift);
        own[pair][k] = s.own.at(row + 2 * pair + 1 - group + fine_above, word + 4 * k);
      }
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const auto& t = there[pair];
      const std::uint32_t a[4] = {t[0][0], t[0][1], t[1][0], t[1][1]};
      mma_u8(sums, a, own[pair][0], own[pair][1]);
    }
    const std::uint32_t a[4] = {there[0][2][0], there[0][2][1], there[1][2][0], there[1][2][1]};
    mma_u8(sums, a, own[0][2], own[1][2]);
  }
  store_pair(&s.products[warp][0][group][2 * word], sums[0], sums[1]);
  store_pair(&s.products[warp][1][group][2 * word], sums[2], sums[3]);
}
static_assert(motion_region == 48 && fine_vectors == 7);

/// Computes the sums of squares and the inner products from which search_fine() derives the costs
/// of vectors. `there` is the plane of the other frame at full resolution.
template <class Size>
__device__ void sum_up_fine(const Size& size, const Interval& x, const Interval& y, int2 centre,
                            const BytePlane& there, Shared& s) {
  constexpr int row_words = words_for(motion_region);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int row = threadIdx.x; row < size.rows + fine_vectors - 1; row += motion_threads)
    s.fine.sum_row(row, size.columns);
  multiply_fine(size.rows, warp, lane, s);

  Shared::Squares squares{};
  for (int i = threadIdx.x; i < size.rows * row_words; i += motion_threads) {
    const int row = i / row_words, k = i % row_words;
    const std::uint32_t p = s.own.at(row + fine_above, k);
    squares.own = __dp4a(p, p, squares.own);
    if (has_zero_motion(centre)) continue;
    const std::uint32_t q = there.word(x.first + 4 * k, y.first + row, size.columns - 4 * k);
    squares.still = __dp4a(q, q, squares.still);
    squares.still_products = __dp4a(p, q, squares.still_products);
  }
  const auto sum = [](std::uint32_t part) {
    return static_cast<std::uint32_t>(warp_sum(static_cast<int>(part)));
  };
  squares = {sum(squares.own), sum(squares.still), sum(squares.still_products)};
  if (lane == 0) s.squares_of[warp] = squares;
}

/// Performs the search at full resolution (step 2 of motion.h). Each thread computes the cost of
/// one vector around `centre`. If the zero vector is not one of these vectors, thread 0 also
/// computes the cost of the zero vector.
template <class Size>
__device__ void search_fine(const Size& size, const Interval& x, const Interval& y, int2 centre,
                            int width, int height, Shared& s) {
  const int dx = threadIdx.x % fine_vectors, dy = threadIdx.x / fine_vectors;
  const bool is_valid = dy < fine_vectors && stays(x, centre.x + dx - motion_refinement, width) &&
                        stays(y, centre.y + dy - motion_refinement, height);
  const Shared::Squares squares = s.squares();
  const std::uint32_t cost =
      is_valid ? squares.own + s.fine.squares_at(dx, dy, size.rows) - 2 * s.product(dx, dy) : none;
  if (!has_zero_motion(centre)) {
    if (threadIdx.x == 0)
      s.zero_motion_cost = squares.own + squares.still - 2 * squares.still_products;
  } else if (centre.x + dx == motion_refinement && centre.y + dy == motion_refinement) {
    s.zero_motion_cost = cost;
  }
  const Key key = least_in_warp(cost, order_of(threadIdx.x, fine_vectors));
  if (threadIdx.x % 32 == 0) s.least_of[threadIdx.x / 32] = key;
}

template <class Size>
__device__ Motion find_vector(const Size& size, const Interval& x, const Interval& y,
                              const MotionArgs& a, const MainBytes& other, Shared& s) {
  const int coarse_width = a.width / coarse, coarse_height = a.height / coarse;
  const Interval cx = coarse_interval(x, coarse_width), cy = coarse_interval(y, coarse_height);
  const BytePlane there{other.fine, a.width, a.height};
  s.own_coarse.load_zero_padded<coarse_side>({a.frame.coarse, coarse_width, coarse_height},
                                             cx.first, cy.first - coarse_above, size.coarse_columns,
                                             coarse_above, coarse_above + size.coarse_rows);
  s.coarse.load({other.coarse, coarse_width, coarse_height}, cx.first - prediction_reach,
                cy.first - prediction_reach, size.coarse_columns, size.coarse_rows);
  s.own.load_zero_padded<motion_region>({a.frame.fine, a.width, a.height}, x.first,
                                        y.first - fine_above, size.columns, fine_above,
                                        fine_above + size.rows);
  __syncthreads();
  search_coarse(size, cx, cy, coarse_width, coarse_height, s);
  __syncthreads();

  const auto inside = [](int v, const Interval& i, int length) {
    return max(-i.first, min(v, length - i.end));
  };
  const int2 rough = vector_of(s.least(), prediction_reach);
  const int2 centre{inside(rough.x * coarse, x, a.width), inside(rough.y * coarse, y, a.height)};
  s.fine.load(there, x.first + centre.x - motion_refinement, y.first + centre.y - motion_refinement,
              size.columns, size.rows);
  __syncthreads();
  sum_up_fine(size, x, y, centre, there, s);
  __syncthreads();
  search_fine(size, x, y, centre, a.width, a.height, s);
  __syncthreads();
  const Key best = s.least();
  const int2 fine = vector_of(best, motion_refinement);
  if (s.zero_motion_cost <=
      static_cast<std::uint32_t>(best >> 32) + zero_motion_bonus(a.sigma, size.columns * size.rows))
    return {};
  return {static_cast<std::int16_t>(centre.x + fine.x),
          static_cast<std::int16_t>(centre.y + fine.y)};
}

__global__ void __launch_bounds__(motion_threads)
    motion_kernel(const __grid_constant__ MotionArgs a) {
  __shared__ Shared s;
  const MotionArgs::Other& other = a.others[blockIdx.z];
  const Interval x = cell_region(blockIdx.x, a.width), y = cell_region(blockIdx.y, a.height);
  const Interval cx = coarse_interval(x, a.width / coarse),
                 cy = coarse_interval(y, a.height / coarse);
  const PartOfRegion size{x.end - x.first, y.end - y.first, cx.end - cx.first, cy.end - cy.first};
  const Motion found = size.is_whole() ? find_vector(WholeRegion{}, x, y, a, other.bytes, s)
                                       : find_vector(size, x, y, a, other.bytes, s);
  if (threadIdx.x == 0) other.cells[blockIdx.y * gridDim.x + blockIdx.x] = found;
}

}  // namespace

void find_motion(const MainBytes& frame, std::span<const MainBytes> others,
                 std::span<Motion* const> cells, int width, int height, float sigma,
                 cudaStream_t stream) {
  if (others.empty()) return;
  MotionArgs args{width, height, sigma, frame, {}};
  for (std::size_t k = 0; k < others.size(); ++k) args.others[k] = {others[k], cells[k]};
  const dim3 grid(motion_cells(width), motion_cells(height), static_cast<unsigned>(others.size()));
  motion_kernel<<<grid, motion_threads, 0, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
