// motion.h on a GPU: a thread block for each block of reference patches and each frame. Both steps
// search in shared memory; the sum of squared differences of a region at one vector is made of
// products of bytes, four at a time: |a|^2 + |b|^2 - 2ab. A key holds sum and order, so that the
// least is the same in any order of work.

#include "bm3d/kernels.h"
#include "bm3d/warp.cuh"
#include "cuda/check.h"

namespace lull::bm3d {
namespace {

constexpr int threads = 256, warps = threads / 32;

struct Region {
  Interval x, y;
  __device__ int width() const { return x.end - x.first; }
  __device__ int height() const { return y.end - y.first; }
};

struct BytePlane {
  const std::uint8_t* data;
  int width, height;
};

constexpr int words_for(int bytes) { return (bytes + 3) / 4; }

/// Rows of `region` of a plane in shared memory, the last word filled up with zeros; samples
/// outside the plane are zeros too, and belong to vectors that are not tried.
__device__ void load_region(const BytePlane& plane, int x, int y, int width, int height, int pitch,
                            std::uint32_t* to) {
  for (int i = threadIdx.x; i < height * pitch; i += threads) {
    const int row = y + i / pitch, first = x + i % pitch * 4;
    std::uint32_t word = 0;
    for (int k = 0; k < 4; ++k) {
      const int column = first + k;
      if (column < x + width && column >= 0 && column < plane.width && row >= 0 &&
          row < plane.height)
        word |= static_cast<std::uint32_t>(plane.data[row * plane.width + column]) << 8 * k;
    }
    to[i] = word;
  }
}

/// The best vector up to `reach` from `centre`, with which the region is inside; `still`: the sum
/// without motion, if it is among those tried.
struct Search {
  const BytePlane &own, &other;
  const Region& region;
  int2 centre;
  int reach;

  __device__ unsigned long long run(std::uint32_t* memory, unsigned long long* best) const {
    const int width = region.width(), height = region.height(), lane = threadIdx.x % 32;
    const int pitch = words_for(width), around_pitch = words_for(width + 2 * reach) + 1;
    std::uint32_t *const a = memory, *const b = a + height * pitch;
    __syncthreads();  // the memory is free
    if (threadIdx.x == 0) *best = ~0ull;
    load_region(own, region.x.first, region.y.first, width, height, pitch, a);
    load_region(other, region.x.first + centre.x - reach, region.y.first + centre.y - reach,
                width + 2 * reach, height + 2 * reach, around_pitch, b);
    __syncthreads();
    const int side = 2 * reach + 1;
    const std::uint32_t tail = width % 4 == 0 ? ~0u : (1u << 8 * (width % 4)) - 1;
    for (int i = threadIdx.x / 32; i < side * side; i += warps) {
      const int dx = i % side, dy = i / side;
      const int vx = centre.x + dx - reach, vy = centre.y + dy - reach;
      if (region.x.first + vx < 0 || region.x.end + vx > other.width || region.y.first + vy < 0 ||
          region.y.end + vy > other.height)
        continue;
      std::uint32_t squares = 0, products = 0;
      for (int k = lane; k < height * pitch; k += 32) {
        const int row = k / pitch, column = k - row * pitch;
        const std::uint32_t* const words = b + (row + dy) * around_pitch + column + dx / 4;
        const std::uint32_t mask = column == pitch - 1 ? tail : ~0u;
        const std::uint32_t q = __funnelshift_r(words[0], words[1], 8 * (dx % 4)) & mask;
        const std::uint32_t p = a[k];
        squares = __dp4a(p, p, __dp4a(q, q, squares));
        products = __dp4a(p, q, products);
      }
      const auto cost =
          static_cast<std::uint32_t>(warp_sum(static_cast<int>(squares - 2 * products)));
      const unsigned order = i == (side * side) / 2 ? 0 : 1 + i;
      if (lane == 0) atomicMin(best, static_cast<unsigned long long>(cost) << 32 | order);
    }
    __syncthreads();
    return *best;
  }
  __device__ int2 vector_of(unsigned long long key) const {
    const int side = 2 * reach + 1, order = static_cast<int>(key & 0xffffffffu);
    const int i = order == 0 ? side * side / 2 : order - 1;
    return {centre.x + i % side - reach, centre.y + i / side - reach};
  }
};

struct MotionArgs {
  MotionGrid grid;
  int width, height;  // of the main plane
  float sigma;
  const std::uint8_t *fine, *coarse;  // of the reference patches' frame
  struct Other {
    const std::uint8_t *fine, *coarse;
    Motion* field;
  } others[2 * max_temporal];
};

__device__ int inside(int v, const Interval& i, int length) {
  return max(-i.first, min(v, length - i.end));
}

__global__ void __launch_bounds__(threads) motion_kernel(const MotionArgs a) {
  extern __shared__ std::uint32_t memory[];
  __shared__ unsigned long long best;
  const MotionArgs::Other& other = a.others[blockIdx.z];
  const int count_x = reference_count(a.grid.width, a.grid.step);
  const int count_y = reference_count(a.grid.height, a.grid.step);
  const int i = blockIdx.x * motion_columns, j = blockIdx.y * motion_rows;
  const Region fine{motion_interval(i, min(i + motion_columns, count_x) - 1, a.grid.step,
                                    a.grid.width, a.grid.shift_x, a.width),
                    motion_interval(j, min(j + motion_rows, count_y) - 1, a.grid.step,
                                    a.grid.height, a.grid.shift_y, a.height)};
  const BytePlane own_coarse{a.coarse, a.width / coarse, a.height / coarse};
  const BytePlane other_coarse{other.coarse, a.width / coarse, a.height / coarse};
  const Region rough{coarse_interval(fine.x, own_coarse.width),
                     coarse_interval(fine.y, own_coarse.height)};
  const Search first{own_coarse, other_coarse, rough, {0, 0}, prediction_reach};
  const int2 far = first.vector_of(first.run(memory, &best));

  const BytePlane own{a.fine, a.width, a.height}, there{other.fine, a.width, a.height};
  const int2 centre{inside(far.x * coarse, fine.x, a.width),
                    inside(far.y * coarse, fine.y, a.height)};
  const Search second{own, there, fine, centre, motion_refinement};
  const unsigned long long found = second.run(memory, &best);
  int2 v = second.vector_of(found);
  const Search nothing{own, there, fine, {0, 0}, 0};
  const auto still = static_cast<std::uint32_t>(nothing.run(memory, &best) >> 32);
  if (still <=
      static_cast<std::uint32_t>(found >> 32) + still_bonus(a.sigma, fine.width() * fine.height()))
    v = {0, 0};
  if (threadIdx.x == 0)
    other.field[blockIdx.y * gridDim.x + blockIdx.x] = {
        static_cast<std::int16_t>(v.x >> a.grid.shift_x),
        static_cast<std::int16_t>(v.y >> a.grid.shift_y)};
}

}  // namespace

void find_motion(const MainBytes& frame, std::span<const MainBytes> others,
                 std::span<Motion* const> fields, int width, int height, const MotionGrid& grid,
                 float sigma, cudaStream_t stream) {
  if (others.empty()) return;
  MotionArgs args{grid, width, height, sigma, frame.fine, frame.coarse, {}};
  for (std::size_t k = 0; k < others.size(); ++k)
    args.others[k] = {others[k].fine, others[k].coarse, fields[k]};
  // A region's samples and those around it, of the greatest region.
  const auto side = [&](int references, int shift, int length) {
    return std::min(std::max(((references - 1) * grid.step + patch) << shift, motion_region),
                    length);
  };
  const auto bytes = [](int w, int h, int reach) {
    return 4 * (h * words_for(w) + (h + 2 * reach) * (words_for(w + 2 * reach) + 1));
  };
  const int w = side(motion_columns, grid.shift_x, width);
  const int h = side(motion_rows, grid.shift_y, height);
  const int shared = std::max(bytes(w, h, motion_refinement),
                              bytes(w / coarse + 2, h / coarse + 2, prediction_reach));
  motion_kernel<<<dim3(grid.columns(), grid.rows(), static_cast<unsigned>(others.size())), threads,
                  shared, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
