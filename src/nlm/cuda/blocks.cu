// The kernel for 4x4 blocks in one plane, at a step of 1 or 2, as in the profiles for pictures. All
// sums have a fixed order.

// A warp processes 32 columns of cells (squares of `step` x `step` samples). In half precision, a
// warp processes two strips of 32 columns at a time.

// A thread accumulates the weighted differences of all 16 samples of its patches. The kernel writes
// the estimates of overlapping patches to different arrays, which are called layers.

#include "core/round_up.h"
#include "cuda/check.h"
#include "nlm/cuda/kernels.h"
#include "nlm/cuda/lanes.cuh"

namespace lull::nlm::cuda {
namespace {

constexpr int warps = 4;  // warps of a thread block, one below the other
// Number of vertically neighbouring patches of a thread.
constexpr int patches_per_thread = 2;
constexpr int side = 4;  // side of a patch

/// Sizes that depend on the step between reference patches. A cell has `cell` x `cell` samples.
template <int cell>
struct Cells {
  // Number of cells (`cell` x `cell` samples) along a side of a patch.
  static constexpr int across = side / cell;
  // Number of columns of patches that a warp processes.
  static constexpr int columns = 33 - across;
  // Number of rows of cells (`cell` x `cell` samples) that a thread reads.
  static constexpr int rows = patches_per_thread + across - 1;
  // Column and row of the first patch that covers samples of the plane, in cells (`cell` x `cell`
  // samples).
  static constexpr int first = -(across - 1);
  /// Returns the number of patches along an axis of `length` samples.
  static __host__ __device__ constexpr int patches(int length) {
    return (length + cell - 1) / cell + across - 1;
  }
};

/// Samples of a thread block in shared memory. Samples of a row with equal x modulo `cell` are
/// contiguous, so that lanes read consecutive samples.
template <int cell, int max_search>
struct Window {
  static constexpr int pitch = (31 * cell + side + 2 * max_search + cell - 1) / cell;
  __host__ __device__ explicit constexpr Window(int search)
      : columns(31 * cell + side + 2 * search),
        rows((warps * patches_per_thread + Cells<cell>::across - 1) * cell + 2 * search) {}
  __device__ static constexpr int at(int x, int y) {
    return (y * cell + x % cell) * pitch + x / cell;
  }
  constexpr int size() const { return rows * cell * pitch; }
  int columns, rows;
};
inline constexpr int typical_search = 7;  // maximum search radius of the profiles

/// Memory for the estimates of all patches. The blocks of patches overlap, so each patch writes to
/// one of n x n layers, where n is Cells::across. Layer (a, b) contains the patches in columns a +
/// i * n and rows b + j * n, which do not overlap. In the layer, the estimates of the patch with
/// the numbers i and j begin at (4 * i, 4 * j).
template <class Stored>
struct Layers {
  __host__ __device__ Layers(Stored* memory, int width, int height)
      : samples(memory),
        pitch(static_cast<std::size_t>((width + 8 + 31) / 32 * 32)),
        size(pitch * (height + 8)) {}
  Stored* samples;
  std::size_t pitch, size;
};

/// Returns the sum of `v` over `across` consecutive lanes, beginning with this lane.
template <int across, class T>
__device__ __forceinline__ T sum_along(T v) {
  v = add(v, __shfl_down_sync(~0u, v, 1));
  if constexpr (across == 4) v = add(v, __shfl_down_sync(~0u, v, 2));
  return v;
}

/// Computes the sums over the two patches of a thread. The middle rows belong to both patches, so
/// the function sums these rows only once.
template <int across, class T, int rows>
__device__ __forceinline__ void sum_patches(const T (&cells)[rows], T (&sums)[patches_per_thread]) {
  T shared = cells[1];
#pragma unroll
  for (int j = 2; j < across; ++j) shared = add(shared, cells[j]);
  sums[0] = sum_along<across>(add(cells[0], shared));
  sums[1] = sum_along<across>(add(shared, cells[across]));
}

/// Accumulators of a thread: weighted differences and weights of its patches.
template <class T>
struct Patches {
  T sums[patches_per_thread][side * side];
  T weights[patches_per_thread];
};

/// Adds the candidates at one displacement to the sums of a thread. `d` contains the differences
/// between the samples of these candidates and of their reference patches.
template <int cell, bool exponential, class T>
__device__ __forceinline__ void add_candidates(const T (&d)[Cells<cell>::rows * cell][side], T top,
                                               T mean_share, Patches<T>& patches) {
  constexpr int rows = Cells<cell>::rows, across = Cells<cell>::across;
  T cell_squares[rows], cell_sums[rows];
#pragma unroll
  for (int j = 0; j < rows; ++j) {
    T sum = d[j * cell][0], square = mul(sum, sum);
#pragma unroll
    for (int k = 1; k < cell * cell; ++k) {
      const T v = d[j * cell + k / cell][k % cell];
      square = mul_add(v, v, square);
      sum = add(sum, v);
    }
    cell_squares[j] = square;
    cell_sums[j] = sum;
  }
  T squares[patches_per_thread], sums[patches_per_thread];
  sum_patches<across>(cell_squares, squares);
  sum_patches<across>(cell_sums, sums);
#pragma unroll
  for (int t = 0; t < patches_per_thread; ++t) {
    const T q = mul_add(mul(mean_share, sums[t]), sums[t], squares[t]);
    const T w = weight<exponential>(top, q);
    patches.weights[t] = add(patches.weights[t], w);
#pragma unroll
    for (int k = 0; k < side * side; ++k)
      patches.sums[t][k] = mul_add(w, d[t * cell + k / side][k % side], patches.sums[t][k]);
  }
}

template <int cell, int max_search, class T>
__device__ void fill(const float* __restrict__ plane, const Space& space, int search, float base,
                     const Window<cell, max_search>& window, T* tile) {
  using C = Cells<cell>;
  constexpr int strips = Lanes<T>::count;
  const int x0 = (C::first + static_cast<int>(blockIdx.x) * strips * C::columns) * cell - search;
  const int y0 =
      (C::first + static_cast<int>(blockIdx.y) * warps * patches_per_thread) * cell - search;
  const int last_x = space.width + space.pad - 1, last_y = space.height + space.pad - 1;
  for (int y = static_cast<int>(threadIdx.y); y < window.rows; y += warps) {
    const float* const row = plane + space.at(0, min(y0 + y, last_y));
    for (int x = static_cast<int>(threadIdx.x); x < window.columns; x += 32) {
      const float first = row[min(x0 + x, last_x)];
      const float second = strips == 2 ? row[min(x0 + C::columns * cell + x, last_x)] : 0.0f;
      tile[window.at(x, y)] = Lanes<T>::make(first - base, second - base);
    }
  }
}

template <int cell, class T>
__device__ void write(const Patches<T>& patches, const Space& space,
                      const Layers<typename Lanes<T>::Stored>& layers) {
  using C = Cells<cell>;
  using Stored = typename Lanes<T>::Stored;
  struct alignas(4 * sizeof(Stored)) Four {
    Stored at[4];
  };
  if (threadIdx.x >= C::columns) return;
#pragma unroll
  for (int strip = 0; strip < Lanes<T>::count; ++strip) {
    const int i = (static_cast<int>(blockIdx.x) * Lanes<T>::count + strip) * C::columns +
                  static_cast<int>(threadIdx.x);
    if (i >= C::patches(space.width)) continue;
#pragma unroll
    for (int t = 0; t < patches_per_thread; ++t) {
      const int j = static_cast<int>((blockIdx.y * warps + threadIdx.y) * patches_per_thread) + t;
      if (j >= C::patches(space.height)) continue;
      const float factor = 1 / Lanes<T>::at(patches.weights[t], strip);
      Stored* const to = layers.samples +
                         (j % C::across * C::across + i % C::across) * layers.size +
                         j / C::across * side * layers.pitch + i / C::across * side;
#pragma unroll
      for (int y = 0; y < side; ++y) {
        Four four;
#pragma unroll
        for (int x = 0; x < side; ++x)
          four.at[x] = Stored(factor * Lanes<T>::at(patches.sums[t][y * side + x], strip));
        *reinterpret_cast<Four*>(to + y * layers.pitch) = four;
      }
    }
  }
}

/// Filters a plane. Thread blocks have (32, warps) threads.
template <class T, int cell, int max_search, bool exponential>
__global__ void __launch_bounds__(32 * warps, 4)
    blocks_kernel(const float* __restrict__ plane, Space space, int search, Curve curve, float base,
                  typename Lanes<T>::Stored* memory) {
  using C = Cells<cell>;
  constexpr int rows = C::rows * cell;
  constexpr int kept = side - cell;  // number of columns that the next displacement uses again
  extern __shared__ __align__(16) unsigned char shared[];
  T* const tile = reinterpret_cast<T*>(shared);
  const Window<cell, max_search> window(search);
  fill(plane, space, search, base, window, tile);
  __syncthreads();

  // Position of the thread in the block: the column of cells `lane`, and the row of samples
  // `top_row`.
  const int lane = static_cast<int>(threadIdx.x);
  const int top_row = static_cast<int>(threadIdx.y) * patches_per_thread * cell;
  T reference[rows][side];
#pragma unroll
  for (int j = 0; j < rows; ++j)
#pragma unroll
    for (int k = 0; k < side; ++k)
      reference[j][k] = tile[window.at(lane * cell + k + search, top_row + j + search)];

  Patches<T> patches;
#pragma unroll
  for (int t = 0; t < patches_per_thread; ++t) {
    patches.weights[t] = Lanes<T>::all(0);
#pragma unroll
    for (int k = 0; k < side * side; ++k) patches.sums[t][k] = Lanes<T>::all(0);
  }
  const T top = Lanes<T>::all(curve.top), mean_share = Lanes<T>::all(curve.mean_share);
  for (int dy = 0; dy <= 2 * search; ++dy)
#pragma unroll
    for (int parity = 0; parity < cell; ++parity) {
      // candidate() returns the sample in row j and column k of candidate `number`. Neighbouring
      // candidates are `cell` samples apart.
      const T* const from = tile + (top_row + dy) * cell * Window<cell, max_search>::pitch + lane;
      const auto candidate = [&](int j, int k, int number) {
        const int x = k + parity;
        return from[(j * cell + x % cell) * Window<cell, max_search>::pitch + x / cell + number];
      };
      T old[rows][kept];
#pragma unroll
      for (int j = 0; j < rows; ++j)
#pragma unroll
        for (int k = 0; k < kept; ++k) old[j][k] = candidate(j, k, 0);
      const int count = (2 * search - parity) / cell;
#pragma unroll 1
      for (int number = 0; number <= count; ++number) {
        T d[rows][side];
#pragma unroll
        for (int j = 0; j < rows; ++j) {
#pragma unroll
          for (int k = 0; k < kept; ++k) d[j][k] = sub(old[j][k], reference[j][k]);
#pragma unroll
          for (int k = 0; k + cell < kept; ++k) old[j][k] = old[j][k + cell];
#pragma unroll
          for (int k = kept; k < side; ++k) {
            const T added = candidate(j, k, number);
            d[j][k] = sub(added, reference[j][k]);
            old[j][k - cell] = added;
          }
        }
        add_candidates<cell, exponential>(d, top, mean_share, patches);
      }
    }
  write<cell>(patches, space, Layers<typename Lanes<T>::Stored>(memory, space.width, space.height));
}

/// Averages the estimates of all patches that cover a sample, one sample in each thread.
template <int cell, class Stored>
__global__ void average_kernel(const float* __restrict__ plane, Space space, float scale,
                               const Stored* __restrict__ memory, float* __restrict__ result) {
  constexpr int across = Cells<cell>::across;
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= space.width || y >= space.height) return;
  const Layers<const Stored> layers(memory, space.width, space.height);
  float sum = 0;
#pragma unroll
  for (int b = 0; b < across; ++b)
#pragma unroll
    for (int a = 0; a < across; ++a)
      sum += static_cast<float>(layers.samples[(b * across + a) * layers.size +
                                               (y + (across - 1 - b) * cell) * layers.pitch + x +
                                               (across - 1 - a) * cell]);
  result[space.flat_at(x, y)] = (plane[space.at(x, y)] + sum * (1.0f / (across * across))) * scale;
}

template <class T, int cell, int max_search, bool exponential>
void launch(const BlocksPlan& plan, const float* plane, void* memory, float* result,
            cudaStream_t stream) {
  using C = Cells<cell>;
  using Stored = typename Lanes<T>::Stored;
  const int columns = C::columns * Lanes<T>::count, rows = warps * patches_per_thread;
  const dim3 grid((C::patches(plan.space.width) + columns - 1) / columns,
                  (C::patches(plan.space.height) + rows - 1) / rows);
  const Window<cell, max_search> window(plan.search);
  auto* const layers = static_cast<Stored*>(memory);
  blocks_kernel<T, cell, max_search, exponential>
      <<<grid, dim3(32, warps), window.size() * sizeof(T), stream>>>(
          plane, plan.space, plan.search, plan.curve, middle * plan.scale, layers);
  lull::cuda::check(cudaGetLastError());
  const dim3 all((plan.space.width + 31) / 32, (plan.space.height + 7) / 8);
  average_kernel<cell><<<all, dim3(32, 8), 0, stream>>>(plane, plan.space, 1 / plan.scale,
                                                        static_cast<const Stored*>(layers), result);
  lull::cuda::check(cudaGetLastError());
}

template <int cell, int max_search>
void launch_weighing(const BlocksPlan& plan, const float* plane, void* layers, float* result,
                     cudaStream_t stream) {
  if (plan.curve.exponential)
    launch<float, cell, max_search, true>(plan, plane, layers, result, stream);
  else if (plan.halves)
    launch<__half2, cell, max_search, false>(plan, plane, layers, result, stream);
  else
    launch<float, cell, max_search, false>(plan, plane, layers, result, stream);
}

template <int cell>
void launch_stepping(const BlocksPlan& plan, const float* plane, void* layers, float* result,
                     cudaStream_t stream) {
  if (plan.search <= typical_search)
    launch_weighing<cell, typical_search>(plan, plane, layers, result, stream);
  else
    launch_weighing<cell, max_search_radius>(plan, plane, layers, result, stream);
}

}  // namespace

std::size_t BlocksPlan::layer_bytes() const {
  const Layers<float> layers(nullptr, space.width, space.height);
  return layers.size * (side / step) * (side / step) * sizeof(float);
}

void estimate_blocks(const BlocksPlan& plan, const float* plane, void* layers, float* result,
                     cudaStream_t stream) {
  if (plan.step == 2)
    launch_stepping<2>(plan, plane, layers, result, stream);
  else
    launch_stepping<1>(plan, plane, layers, result, stream);
}

}  // namespace lull::nlm::cuda
