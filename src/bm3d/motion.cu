// motion.h on a GPU: a thread block for each cell and each frame. The sum of squared differences at
// a vector is made of products of bytes, four at a time: |a|^2 + |b|^2 - 2ab. In the coarse plane a
// thread takes a vector; in full size a warp takes those of a row, which share what they load. A
// key holds sum and order, so that the least is the same in any order of work.

#include <algorithm>

#include "bm3d/kernels.h"
#include "bm3d/warp.cuh"
#include "cuda/check.h"

namespace lull::bm3d {
namespace {

constexpr int threads = 320, warps = threads / 32;
constexpr int coarse_side = motion_region / coarse + 1;  // a region may begin off the grid
constexpr int refinements = 2 * motion_refinement + 1;
constexpr int motions = 2 * prediction_reach + 1;
static_assert(motions * motions <= threads && refinements < warps);

constexpr int words_for(int bytes) { return (bytes + 3) / 4; }

struct BytePlane {
  const std::uint8_t* data;
  int width, height;
};

/// Bytes `from` .. `from` + 3 of two words.
__device__ std::uint32_t cut(std::uint32_t low, std::uint32_t high, int from) {
  return __funnelshift_r(low, high, 8 * from);
}

/// Rows of bytes in shared memory, the last word of a row filled up with zeros; with samples around
/// them, to be read up to a word beyond.
template <int width, int height>
struct Tile {
  static constexpr int pitch = words_for(width) + 1;
  std::uint32_t words[height * pitch];

  /// `columns` x `rows` samples from (x, y) on; zeros outside the plane.
  __device__ void load(const BytePlane& plane, int x, int y, int columns, int rows) {
    for (int i = threadIdx.x; i < rows * pitch; i += threads) {
      const int row = y + i / pitch, first = x + i % pitch * 4, left = x + columns - first;
      std::uint32_t word = 0;
      if (row >= 0 && row < plane.height && first >= 0 && first + 8 <= plane.width) {
        const auto at = reinterpret_cast<std::uintptr_t>(plane.data + row * plane.width + first);
        const auto* const aligned = reinterpret_cast<const std::uint32_t*>(at & ~std::uintptr_t{3});
        word = cut(aligned[0], aligned[1], static_cast<int>(at & 3));
        if (left < 4) word &= left <= 0 ? 0u : (1u << 8 * left) - 1;
      } else if (row >= 0 && row < plane.height) {
        for (int k = 0; k < 4; ++k)
          if (const int column = first + k; k < left && column >= 0 && column < plane.width)
            word |= static_cast<std::uint32_t>(plane.data[row * plane.width + column]) << 8 * k;
      }
      words[i] = word;
    }
  }
  __device__ std::uint32_t at(int row, int word) const { return words[row * pitch + word]; }
};

using Key = unsigned long long;
__device__ Key key_of(std::uint32_t cost, int order) {
  return static_cast<Key>(cost) << 32 | order;
}
/// The centre comes first, then row by row.
__device__ int order_of(int index, int side) { return index == side * side / 2 ? 0 : 1 + index; }
__device__ int2 vector_of(Key key, int reach) {
  const int side = 2 * reach + 1, order = static_cast<int>(key & 0xffffffffu);
  const int index = order == 0 ? side * side / 2 : order - 1;
  return {index % side - reach, index / side - reach};
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
  Tile<coarse_side + 2 * prediction_reach, coarse_side + 2 * prediction_reach> around_coarse;
  Tile<motion_region, motion_region> own, still;
  Tile<motion_region + 2 * motion_refinement, motion_region + 2 * motion_refinement> around;
  Key best_coarse, best;
  std::uint32_t still_cost;
};

/// Whether an interval moved by v stays within the length.
__device__ bool stays(const Interval& i, int v, int length) {
  return i.first + v >= 0 && i.end + v <= length;
}

/// Step 1: the key of the best vector.
__device__ void search_coarse(const Interval& x, const Interval& y, int width, int height,
                              Shared& s) {
  const int columns = x.end - x.first, rows = y.end - y.first;
  const int dx = threadIdx.x % motions, dy = threadIdx.x / motions;
  if (dy >= motions || !stays(x, dx - prediction_reach, width) ||
      !stays(y, dy - prediction_reach, height))
    return;
  std::uint32_t squares = 0, products = 0;
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < words_for(columns); ++k) {
      const int left = columns - 4 * k;
      const std::uint32_t mask = left >= 4 ? ~0u : (1u << 8 * left) - 1;
      const int word = k + dx / 4;
      const std::uint32_t p = s.own_coarse.at(row, k);
      const std::uint32_t q =
          cut(s.around_coarse.at(row + dy, word), s.around_coarse.at(row + dy, word + 1), dx % 4) &
          mask;
      squares = __dp4a(p, p, __dp4a(q, q, squares));
      products = __dp4a(p, q, products);
    }
  atomicMin(&s.best_coarse, key_of(squares - 2 * products, order_of(threadIdx.x, motions)));
}

/// Step 2: warp `dy` takes row dy of the vectors around `centre`; one more warp the vector (0, 0).
__device__ void search_fine(const Interval& x, const Interval& y, int2 centre, int width,
                            int height, Shared& s) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp > refinements) return;
  const bool is_still = warp == refinements;
  const int columns = x.end - x.first, rows = y.end - y.first, row_words = words_for(columns);
  std::uint32_t squares[refinements] = {}, products[refinements] = {};
  for (int i = lane; i < rows * row_words; i += 32) {
    const int row = i / row_words, k = i % row_words, left = columns - 4 * k;
    const std::uint32_t mask = left >= 4 ? ~0u : (1u << 8 * left) - 1;
    const std::uint32_t p = s.own.at(row, k);
    const std::uint32_t own_square = __dp4a(p, p, 0u);
    if (is_still) {
      const std::uint32_t q = s.still.at(row, k);
      squares[0] = __dp4a(q, q, squares[0] + own_square);
      products[0] = __dp4a(p, q, products[0]);
      continue;
    }
    const std::uint32_t w[3] = {s.around.at(row + warp, k), s.around.at(row + warp, k + 1),
                                s.around.at(row + warp, k + 2)};
#pragma unroll
    for (int dx = 0; dx < refinements; ++dx) {
      const std::uint32_t q = cut(w[dx / 4], w[dx / 4 + 1], dx % 4) & mask;
      squares[dx] = __dp4a(q, q, squares[dx] + own_square);
      products[dx] = __dp4a(p, q, products[dx]);
    }
  }
#pragma unroll
  for (int dx = 0; dx < refinements; ++dx) {
    const auto cost =
        static_cast<std::uint32_t>(warp_sum(static_cast<int>(squares[dx] - 2 * products[dx])));
    if (lane != 0) continue;
    if (is_still) {
      if (dx == 0) s.still_cost = cost;
    } else if (stays(x, centre.x + dx - motion_refinement, width) &&
               stays(y, centre.y + warp - motion_refinement, height)) {
      atomicMin(&s.best, key_of(cost, order_of(warp * refinements + dx, refinements)));
    }
  }
}

__global__ void __launch_bounds__(threads) motion_kernel(const MotionArgs a) {
  __shared__ Shared s;
  const MotionArgs::Other& other = a.others[blockIdx.z];
  const Interval x = cell_region(blockIdx.x, a.width), y = cell_region(blockIdx.y, a.height);
  const int coarse_width = a.width / coarse, coarse_height = a.height / coarse;
  const Interval cx = coarse_interval(x, coarse_width), cy = coarse_interval(y, coarse_height);
  const BytePlane own{a.frame.fine, a.width, a.height};
  const BytePlane there{other.bytes.fine, a.width, a.height};
  const BytePlane there_coarse{other.bytes.coarse, coarse_width, coarse_height};
  constexpr int far = 2 * prediction_reach, near = 2 * motion_refinement;
  if (threadIdx.x == 0) s.best_coarse = s.best = ~Key{0};
  const int columns = cx.end - cx.first, rows = cy.end - cy.first;
  s.own_coarse.load({a.frame.coarse, coarse_width, coarse_height}, cx.first, cy.first, columns,
                    rows);
  s.around_coarse.load(there_coarse, cx.first - prediction_reach, cy.first - prediction_reach,
                       columns + far, rows + far);
  __syncthreads();
  search_coarse(cx, cy, coarse_width, coarse_height, s);
  const int width = x.end - x.first, height = y.end - y.first;
  s.own.load(own, x.first, y.first, width, height);
  s.still.load(there, x.first, y.first, width, height);
  __syncthreads();

  const auto inside = [](int v, const Interval& i, int length) {
    return max(-i.first, min(v, length - i.end));
  };
  const int2 rough = vector_of(s.best_coarse, prediction_reach);
  const int2 centre{inside(rough.x * coarse, x, a.width), inside(rough.y * coarse, y, a.height)};
  s.around.load(there, x.first + centre.x - motion_refinement,
                y.first + centre.y - motion_refinement, width + near, height + near);
  __syncthreads();
  search_fine(x, y, centre, a.width, a.height, s);
  __syncthreads();
  if (threadIdx.x != 0) return;
  const int2 fine = vector_of(s.best, motion_refinement);
  Motion v{static_cast<std::int16_t>(centre.x + fine.x),
           static_cast<std::int16_t>(centre.y + fine.y)};
  if (s.still_cost <=
      static_cast<std::uint32_t>(s.best >> 32) + still_bonus(a.sigma, width * height))
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

}  // namespace lull::bm3d
