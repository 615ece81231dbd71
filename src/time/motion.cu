// motion.h on a GPU: a thread block for each cell and each frame. The sum of squared differences at
// a vector is |a|^2 + |b|^2 - 2ab. The products are those of bytes, four at a time: a thread cuts
// words of the other frame at the places where vectors have their samples begin. In the coarse
// plane it takes four vectors of a row. In full size it takes a word, for all vectors: what it cuts
// serves all rows of vectors. The squares of the other frame are summed up once for each place
// where a region may begin in a row. A key holds cost and order, so that the least is the same in
// any order of work.

#include <algorithm>

#include "cuda/check.h"
#include "cuda/warp.cuh"
#include "time/kernels.h"

namespace lull {
namespace {

constexpr int threads = 128, warps = threads / 32;
constexpr int coarse_side = motion_region / coarse + 1;   // a region may begin off the grid
constexpr int coarse_vectors = 2 * prediction_reach + 1;  // in a row, and rows
constexpr int fine_vectors = 2 * motion_refinement + 1;
constexpr int quads = (coarse_vectors + 3) / 4;  // of vectors in a row
static_assert(coarse_vectors * quads <= threads - 32 && fine_vectors * fine_vectors <= threads);

constexpr int words_for(int bytes) { return (bytes + 3) / 4; }

/// Bytes `from` .. `from` + 3 of two words.
__device__ std::uint32_t cut(std::uint32_t low, std::uint32_t high, int from) {
  return __funnelshift_r(low, high, 8 * from);
}

/// Two aligned words, of which four bytes count: from bit `shift` on.
struct WordPair {
  std::uint32_t low, high;
  int shift;

  /// The first `count` of them, 4 at most; zeros for the others.
  __device__ std::uint32_t first(int count) const {
    const std::uint32_t word = __funnelshift_r(low, high, shift);
    return count >= 4 ? word : count <= 0 ? 0 : word & ((1u << 8 * count) - 1);
  }
};

struct BytePlane {
  const std::uint8_t* data;
  int width, height;

  /// Samples from (x, y) on. The plane has 8.
  __device__ WordPair words_at(int x, int y) const {
    const auto at = reinterpret_cast<std::uintptr_t>(data + y * width + x);
    const auto* const aligned = reinterpret_cast<const std::uint32_t*>(at & ~std::uintptr_t{3});
    return {__ldg(aligned), __ldg(aligned + 1), 8 * static_cast<int>(at & 3)};
  }
  /// `count` samples from (x, y) on, 4 at most; zeros for the others and outside the plane.
  __device__ std::uint32_t word(int x, int y, int count) const {
    std::uint32_t word = 0;
    if (y < 0 || y >= height || count <= 0) return word;
    if (x >= 0 && x + 8 <= width) return words_at(x, y).first(count);
    for (int k = 0; k < 4; ++k)
      if (const int column = x + k; k < count && column >= 0 && column < width)
        word |= static_cast<std::uint32_t>(data[y * width + column]) << 8 * k;
    return word;
  }
};

/// Rows of bytes in shared memory; zeros where there are no samples. The pitch is odd, so that
/// threads which read a row each do not meet in a bank.
template <int width, int height>
struct Tile {
  static constexpr int pitch = (words_for(width) + 1) | 1;
  std::uint32_t words[height * pitch];

  /// Rows `first` .. `end` - 1 of the tile get `columns` samples of the plane; row 0 would be at y.
  __device__ void load(const BytePlane& plane, int x, int y, int columns, int first, int end) {
    if (x >= 0 && x + 4 * pitch + 4 <= plane.width && y + first >= 0 && y + end <= plane.height)
      return load_within(plane, x, y, columns, first, end);
    for (int i = threadIdx.x; i < height * pitch; i += threads) {
      const int row = i / pitch, column = i % pitch * 4;
      const bool inside = row >= first && row < end;
      words[i] = inside ? plane.word(x + column, y + row, columns - column) : 0;
    }
  }
  /// The same where all that is read lies in the plane. All loads are under way before the first
  /// is waited for: rows without samples read others.
  __device__ void load_within(const BytePlane& plane, int x, int y, int columns, int first,
                              int end) {
    constexpr int count = (height * pitch + threads - 1) / threads;
    const auto row_of = [](int k) { return static_cast<int>(threadIdx.x + k * threads) / pitch; };
    const auto column_of = [](int k) {
      return static_cast<int>(threadIdx.x + k * threads) % pitch * 4;
    };
    WordPair v[count];
#pragma unroll
    for (int k = 0; k < count; ++k)
      v[k] = plane.words_at(x + column_of(k), y + max(first, min(row_of(k), end - 1)));
#pragma unroll
    for (int k = 0; k < count; ++k) {
      if (row_of(k) >= height) break;
      const bool inside = row_of(k) >= first && row_of(k) < end;
      words[threadIdx.x + k * threads] = inside ? v[k].first(columns - column_of(k)) : 0;
    }
  }
  __device__ std::uint32_t at(int row, int word) const { return words[row * pitch + word]; }
  __device__ std::uint32_t square(int row, int column) const {
    const std::uint32_t v = at(row, column / 4) >> 8 * (column % 4) & 255;
    return v * v;
  }
};

/// The other frame around the place of a region, and sums of squares of `columns` samples of a row
/// from each place on.
template <int side, int vectors, int height = side + vectors - 1>
struct Surroundings {
  Tile<side + vectors - 1, height> tile;
  std::uint32_t squares[height][vectors];

  __device__ void sum_row(int row, int columns) {
    std::uint32_t sum = 0;
    for (int k = 0; k < columns / 4; ++k) sum = __dp4a(tile.at(row, k), tile.at(row, k), sum);
    for (int x = columns & ~3; x < columns; ++x) sum += tile.square(row, x);
    for (int dx = 0; dx < vectors; ++dx) {
      squares[row][dx] = sum;
      if (dx + 1 < vectors) sum += tile.square(row, dx + columns) - tile.square(row, dx);
    }
  }
  /// |b|^2 for a vector and a region of `rows`.
  __device__ std::uint32_t squares_at(int dx, int dy, int rows) const {
    std::uint32_t sum = 0;
    for (int y = 0; y < rows; ++y) sum += squares[dy + y][dx];
    return sum;
  }
};

using Key = unsigned long long;
constexpr std::uint32_t none = ~0u;
/// The centre comes first, then row by row.
__device__ std::uint32_t order_of(int index, int side) {
  return index == side * side / 2 ? 0 : 1 + index;
}
__device__ int2 vector_of(Key key, int reach) {
  const int side = 2 * reach + 1, order = static_cast<int>(key & 0xffffffffu);
  const int index = order == 0 ? side * side / 2 : order - 1;
  return {index % side - reach, index / side - reach};
}
/// Of what the warp's lanes give; `cost` none: nothing.
__device__ Key least_in_warp(std::uint32_t cost, std::uint32_t order) {
  const std::uint32_t least = warp_min(cost);
  return static_cast<Key>(least) << 32 | warp_min(cost == least ? order : none);
}

struct MotionArgs {
  int width, height;  // of the main plane
  float sigma;
  MainBytes frame;
  struct Other {
    MainBytes bytes;
    Motion* cells;
  } others[2 * max_temporal];
};

struct Shared {
  Tile<coarse_side, coarse_side> own_coarse;
  Surroundings<coarse_side, coarse_vectors> coarse;
  /// With rows of zeros above and below, for the rows of vectors that a row is not in.
  Tile<motion_region, motion_region + 2 * (fine_vectors - 1)> own;
  Surroundings<motion_region, fine_vectors> fine;
  std::uint32_t own_coarse_squares;
  /// Of each warp: products at each vector, then these.
  static constexpr int own_squares = fine_vectors * fine_vectors;  // |a|^2
  static constexpr int still_squares = own_squares + 1;            // |b|^2 without motion
  static constexpr int still_products = own_squares + 2;           // ab without motion
  static constexpr int sums = own_squares + 3;
  std::uint32_t sums_of[warps][sums];
  std::uint32_t still_cost;
  Key least_of[warps];

  __device__ std::uint32_t sum(int i) const {
    std::uint32_t sum = 0;
    for (int warp = 0; warp < warps; ++warp) sum += sums_of[warp][i];
    return sum;
  }
  __device__ Key least() const {
    Key key = least_of[0];
    for (int warp = 1; warp < warps; ++warp) key = min(key, least_of[warp]);
    return key;
  }
};

/// Whether an interval moved by v stays within the length.
__device__ bool stays(const Interval& i, int v, int length) {
  return i.first + v >= 0 && i.end + v <= length;
}

/// Step 1. The last warp sums up squares.
__device__ void search_coarse(const Interval& x, const Interval& y, int width, int height,
                              Shared& s) {
  const int columns = x.end - x.first, rows = y.end - y.first;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int dy = threadIdx.x / quads, quad = threadIdx.x % quads;
  const bool has_vectors = dy < coarse_vectors;
  std::uint32_t products[4] = {};
  if (warp == warps - 1) {
    for (int row = lane; row < rows + coarse_vectors - 1; row += 32) s.coarse.sum_row(row, columns);
    std::uint32_t squares = 0;
    for (int i = lane; i < rows * words_for(coarse_side); i += 32) {
      const std::uint32_t p =
          s.own_coarse.at(i / words_for(coarse_side), i % words_for(coarse_side));
      squares = __dp4a(p, p, squares);
    }
    squares = static_cast<std::uint32_t>(warp_sum(static_cast<int>(squares)));
    if (lane == 0) s.own_coarse_squares = squares;
  } else if (has_vectors) {
    for (int row = 0; row < rows; ++row) {
      std::uint32_t low = s.coarse.tile.at(row + dy, quad);
#pragma unroll
      for (int k = 0; k < words_for(coarse_side); ++k) {
        const std::uint32_t p = s.own_coarse.at(row, k);
        const std::uint32_t high = s.coarse.tile.at(row + dy, quad + k + 1);
#pragma unroll
        for (int i = 0; i < 4; ++i) products[i] = __dp4a(p, cut(low, high, i), products[i]);
        low = high;
      }
    }
  }
  __syncthreads();
  std::uint32_t cost = none, order = none;
  for (int i = 0; i < 4; ++i) {
    const int dx = 4 * quad + i;
    if (!has_vectors || dx >= coarse_vectors || !stays(x, dx - prediction_reach, width) ||
        !stays(y, dy - prediction_reach, height))
      continue;
    const std::uint32_t c =
        s.own_coarse_squares + s.coarse.squares_at(dx, dy, rows) - 2 * products[i];
    const std::uint32_t o = order_of(dy * coarse_vectors + dx, coarse_vectors);
    if (c < cost || (c == cost && o < order)) cost = c, order = o;
  }
  const Key key = least_in_warp(cost, order);
  if (lane == 0) s.least_of[warp] = key;
}

/// Whether standing still is one of the vectors around `centre`.
__device__ bool has_still(int2 centre) {
  return max(abs(centre.x), abs(centre.y)) <= motion_refinement;
}

/// The sums of step 2, and those without motion if need be. `there`: the other frame.
__device__ void sum_up_fine(const Interval& x, const Interval& y, int2 centre,
                            const BytePlane& there, Shared& s) {
  constexpr int padding = fine_vectors - 1, row_words = words_for(motion_region);
  constexpr int words_apart = (fine_vectors - 1) / 4 + 2;
  const int columns = x.end - x.first, rows = y.end - y.first;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int row = threadIdx.x; row < rows + fine_vectors - 1; row += threads)
    s.fine.sum_row(row, columns);

  std::uint32_t products[fine_vectors][fine_vectors] = {};
  std::uint32_t own_squares = 0, still_squares = 0, still_products = 0;
  for (int i = threadIdx.x; i < (rows + fine_vectors - 1) * row_words; i += threads) {
    const int row = i / row_words, k = i % row_words;
    std::uint32_t w[words_apart], q[fine_vectors];
#pragma unroll
    for (int j = 0; j < words_apart; ++j) w[j] = s.fine.tile.at(row, k + j);
#pragma unroll
    for (int dx = 0; dx < fine_vectors; ++dx) q[dx] = cut(w[dx / 4], w[dx / 4 + 1], dx % 4);
#pragma unroll
    for (int dy = 0; dy < fine_vectors; ++dy) {
      const std::uint32_t p = s.own.at(row - dy + padding, k);
      if (dy == 0) own_squares = __dp4a(p, p, own_squares);
#pragma unroll
      for (int dx = 0; dx < fine_vectors; ++dx)
        products[dy][dx] = __dp4a(p, q[dx], products[dy][dx]);
    }
  }
  for (int i = threadIdx.x; i < rows * row_words && !has_still(centre); i += threads) {
    const int row = i / row_words, k = i % row_words;
    const std::uint32_t p = s.own.at(row + padding, k);
    const std::uint32_t q = there.word(x.first + 4 * k, y.first + row, columns - 4 * k);
    still_squares = __dp4a(q, q, still_squares);
    still_products = __dp4a(p, q, still_products);
  }
  const auto store = [&](int i, std::uint32_t part) {
    const int sum = warp_sum(static_cast<int>(part));
    if (lane == 0) s.sums_of[warp][i] = static_cast<std::uint32_t>(sum);
  };
#pragma unroll
  for (int dy = 0; dy < fine_vectors; ++dy)
#pragma unroll
    for (int dx = 0; dx < fine_vectors; ++dx) store(dy * fine_vectors + dx, products[dy][dx]);
  store(Shared::own_squares, own_squares);
  store(Shared::still_squares, still_squares);
  store(Shared::still_products, still_products);
}

/// The cost of a vector around `centre` for each of the first threads; and of standing still.
__device__ void search_fine(const Interval& x, const Interval& y, int2 centre, int width,
                            int height, Shared& s) {
  const int dx = threadIdx.x % fine_vectors, dy = threadIdx.x / fine_vectors;
  const bool is_one = dy < fine_vectors && stays(x, centre.x + dx - motion_refinement, width) &&
                      stays(y, centre.y + dy - motion_refinement, height);
  const std::uint32_t own = s.sum(Shared::own_squares);
  const std::uint32_t cost =
      is_one ? own + s.fine.squares_at(dx, dy, y.end - y.first) - 2 * s.sum(threadIdx.x) : none;
  if (!has_still(centre)) {
    if (threadIdx.x == 0)
      s.still_cost = own + s.sum(Shared::still_squares) - 2 * s.sum(Shared::still_products);
  } else if (centre.x + dx == motion_refinement && centre.y + dy == motion_refinement) {
    s.still_cost = cost;
  }
  const Key key = least_in_warp(cost, order_of(threadIdx.x, fine_vectors));
  if (threadIdx.x % 32 == 0) s.least_of[threadIdx.x / 32] = key;
}

__global__ void __launch_bounds__(threads) motion_kernel(const MotionArgs a) {
  __shared__ Shared s;
  const MotionArgs::Other& other = a.others[blockIdx.z];
  const Interval x = cell_region(blockIdx.x, a.width), y = cell_region(blockIdx.y, a.height);
  const int width = x.end - x.first, height = y.end - y.first;
  const int coarse_width = a.width / coarse, coarse_height = a.height / coarse;
  const Interval cx = coarse_interval(x, coarse_width), cy = coarse_interval(y, coarse_height);
  const int columns = cx.end - cx.first, rows = cy.end - cy.first;
  const BytePlane there{other.bytes.fine, a.width, a.height};
  constexpr int padding = fine_vectors - 1;
  s.own_coarse.load({a.frame.coarse, coarse_width, coarse_height}, cx.first, cy.first, columns, 0,
                    rows);
  s.coarse.tile.load({other.bytes.coarse, coarse_width, coarse_height}, cx.first - prediction_reach,
                     cy.first - prediction_reach, columns + coarse_vectors - 1, 0,
                     rows + coarse_vectors - 1);
  s.own.load({a.frame.fine, a.width, a.height}, x.first, y.first - padding, width, padding,
             padding + height);
  __syncthreads();
  search_coarse(cx, cy, coarse_width, coarse_height, s);
  __syncthreads();

  const auto inside = [](int v, const Interval& i, int length) {
    return max(-i.first, min(v, length - i.end));
  };
  const int2 rough = vector_of(s.least(), prediction_reach);
  const int2 centre{inside(rough.x * coarse, x, a.width), inside(rough.y * coarse, y, a.height)};
  s.fine.tile.load(there, x.first + centre.x - motion_refinement,
                   y.first + centre.y - motion_refinement, width + fine_vectors - 1, 0,
                   height + fine_vectors - 1);
  __syncthreads();
  sum_up_fine(x, y, centre, there, s);
  __syncthreads();
  search_fine(x, y, centre, a.width, a.height, s);
  __syncthreads();
  if (threadIdx.x != 0) return;
  const Key best = s.least();
  const int2 fine = vector_of(best, motion_refinement);
  Motion v{static_cast<std::int16_t>(centre.x + fine.x),
           static_cast<std::int16_t>(centre.y + fine.y)};
  if (s.still_cost <= static_cast<std::uint32_t>(best >> 32) + still_bonus(a.sigma, width * height))
    v = {};
  other.cells[blockIdx.y * gridDim.x + blockIdx.x] = v;
}

}  // namespace

void find_motion(const MainBytes& frame, std::span<const MainBytes> others,
                 std::span<Motion* const> cells, int width, int height, float sigma,
                 cudaStream_t stream) {
  if (others.empty()) return;
  MotionArgs args{width, height, sigma, frame, {}};
  for (std::size_t k = 0; k < others.size(); ++k) args.others[k] = {others[k], cells[k]};
  const dim3 grid(motion_cells(width), motion_cells(height), static_cast<unsigned>(others.size()));
  motion_kernel<<<grid, threads, 0, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
