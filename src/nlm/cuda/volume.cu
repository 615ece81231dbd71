// The kernel for patches of 3x3x3 samples around every sample. A lane processes `slices_per_lane`
// slices by `rows_per_lane` rows, and also reads a border of one sample around them.

// In half precision, a lane processes two groups of voxels at once: one group in the first half of
// the slices of the thread block, and one group in the second half.

// A lane sums squared differences over three rows and three slices in registers, and over three
// columns with its neighbouring lanes. The order of all sums is fixed.

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "nlm/cuda/kernels.h"
#include "nlm/cuda/lanes.cuh"

namespace lull::nlm::cuda {
namespace {

constexpr int rows_per_lane = 4, slices_per_lane = 4;
constexpr int columns_per_warp = 30;  // the outer lanes have only one neighbour

/// Shape of a thread block: warps along y and z, and values per lane (2 in half precision).
struct CubeBlock {
  int warps_y, warps_z, lanes;
  constexpr int rows() const { return warps_y * rows_per_lane; }
  constexpr int half_depth() const { return warps_z * slices_per_lane; }
  constexpr int slices() const { return half_depth() * lanes; }
  constexpr dim3 threads() const { return dim3(32, warps_y, warps_z); }
};

/// Samples of a thread block in shared memory.
struct CubeWindow {
  __host__ __device__ constexpr CubeWindow(int rows_of_block, int half_depth, int search)
      : columns(32 + 2 * search),
        rows(rows_of_block + 2 * search + 2),
        slices(half_depth + 2 * search + 2) {}
  constexpr std::size_t size() const { return static_cast<std::size_t>(columns) * rows * slices; }
  int columns, rows, slices;
};

template <class T>
__device__ void fill_cubes(const VolumePlanes& planes, const Space& space, int search, float base,
                           const CubeWindow& window, int half_depth, T* tile) {
  const int first_slice = static_cast<int>(blockIdx.z) * half_depth * Lanes<T>::count;
  const int x0 = static_cast<int>(blockIdx.x) * columns_per_warp - 1 - search;
  const int y0 = static_cast<int>(blockIdx.y * blockDim.y) * rows_per_lane - 1 - search;
  const int last_x = space.width + space.pad - 1, last_y = space.height + space.pad - 1;
  const int warps = static_cast<int>(blockDim.y * blockDim.z);
  for (int line = static_cast<int>(threadIdx.z * blockDim.y + threadIdx.y);
       line < window.slices * window.rows; line += warps) {
    const int z = line / window.rows, y = min(y0 + line % window.rows, last_y);
    const float* const first = planes.slice[first_slice + z] + space.at(0, y);
    const float* const second =
        Lanes<T>::count == 2 ? planes.slice[first_slice + half_depth + z] + space.at(0, y) : first;
    for (int i = static_cast<int>(threadIdx.x); i < window.columns; i += 32) {
      const int x = min(x0 + i, last_x);
      tile[line * window.columns + i] = Lanes<T>::make(first[x] - base, second[x] - base);
    }
  }
}

template <class T>
__device__ __forceinline__ T sum3(T a, T b, T c) {
  return add(add(a, b), c);
}
template <class T>
__device__ __forceinline__ T sum_columns(T v) {
  return sum3(__shfl_up_sync(~0u, v, 1), v, __shfl_down_sync(~0u, v, 1));
}

/// Computes sums over three rows. Two neighbouring results share the sum of their two common rows.
template <class T>
__device__ __forceinline__ void sum_rows(const T (&rows)[rows_per_lane + 2],
                                         T (&sums)[rows_per_lane]) {
#pragma unroll
  for (int y = 0; y < rows_per_lane; y += 2) {
    const T both = add(rows[y + 1], rows[y + 2]);
    sums[y] = add(rows[y], both);
    sums[y + 1] = add(both, rows[y + 3]);
  }
}

/// Accumulators of a thread: weighted differences and weights of its voxels.
template <class T>
struct Voxels {
  T sums[slices_per_lane][rows_per_lane], weights[slices_per_lane][rows_per_lane];
};

/// The sums of a thread. They have single precision, because large half-precision sums would lose
/// small weights. The sums are in local memory, because the registers of a thread are not
/// sufficient.
struct FloatVoxels {
  volatile float sums[slices_per_lane * rows_per_lane * 2],
      weights[slices_per_lane * rows_per_lane * 2];
};

/// Adds the weighted candidates at one displacement to the sums of the thread. For each slice,
/// `top` contains Curve::top or, if the candidate is missing, a negative value that makes its
/// weight 0.
template <bool mean, bool exponential, class T>
__device__ __forceinline__ void add_cubes(
    const T* candidate, int row, int slice,
    const T (&reference)[slices_per_lane + 2][rows_per_lane + 2], const T (&top)[slices_per_lane],
    T mean_share, Voxels<T>& voxels) {
  // Values of the last slices. Slice z has the index z modulo 3 in `squares` and `sums` (sums over
  // three rows), and z modulo 2 in `centres`.
  T squares[3][rows_per_lane], sums[3][rows_per_lane], centres[2][rows_per_lane];
#pragma unroll
  for (int z = 0; z < slices_per_lane + 2; ++z) {
    T d[rows_per_lane + 2], square[rows_per_lane + 2];
#pragma unroll
    for (int y = 0; y < rows_per_lane + 2; ++y) {
      d[y] = sub(candidate[z * slice + y * row], reference[z][y]);
      square[y] = mul(d[y], d[y]);
    }
    sum_rows(square, squares[z % 3]);
    if constexpr (mean) sum_rows(d, sums[z % 3]);
    if (z >= 2) {
#pragma unroll
      for (int y = 0; y < rows_per_lane; ++y) {
        T q =
            sum_columns(sum3(squares[(z - 2) % 3][y], squares[(z - 1) % 3][y], squares[z % 3][y]));
        if constexpr (mean) {
          const T sum =
              sum_columns(sum3(sums[(z - 2) % 3][y], sums[(z - 1) % 3][y], sums[z % 3][y]));
          q = mul_add(mul(mean_share, sum), sum, q);
        }
        const T w = weight<exponential>(top[z - 2], q);
        voxels.weights[z - 2][y] = add(voxels.weights[z - 2][y], w);
        voxels.sums[z - 2][y] = mul_add(w, centres[(z - 1) % 2][y], voxels.sums[z - 2][y]);
      }
    }
#pragma unroll
    for (int y = 0; y < rows_per_lane; ++y) centres[z % 2][y] = d[y + 1];
  }
}

template <class T>
__device__ __forceinline__ void clear(Voxels<T>& voxels) {
#pragma unroll
  for (int z = 0; z < slices_per_lane; ++z)
#pragma unroll
    for (int y = 0; y < rows_per_lane; ++y)
      voxels.sums[z][y] = voxels.weights[z][y] = Lanes<T>::all(0);
}

/// Adds the half-precision sums to the float sums, and clears the half-precision sums.
template <class T>
__device__ __forceinline__ void move_to(FloatVoxels& floats, Voxels<T>& voxels) {
#pragma unroll
  for (int z = 0; z < slices_per_lane; ++z)
#pragma unroll
    for (int y = 0; y < rows_per_lane; ++y)
#pragma unroll
      for (int i = 0; i < Lanes<T>::count; ++i) {
        const int at = (z * rows_per_lane + y) * 2 + i;
        floats.sums[at] = floats.sums[at] + Lanes<T>::at(voxels.sums[z][y], i);
        floats.weights[at] = floats.weights[at] + Lanes<T>::at(voxels.weights[z][y], i);
      }
  clear(voxels);
}

/// Numbers of warps along y and z in the largest thread block.
constexpr int max_warps_y = 4, max_warps_z = 2;

/// Filters the slices of a volume. If `in_floats` is true, the kernel regularly moves the
/// half-precision sums to float sums, because half precision cannot sum all candidates. `fixed` is
/// the search radius as a compile-time constant, or 0 for any radius.
template <class T, bool mean, bool exponential, bool in_floats, int fixed>
__global__ void __launch_bounds__(256, 2)
    cubes_kernel(const __grid_constant__ VolumePlanes planes, Space space, int any_search,
                 Curve curve, float scale, float* __restrict__ results) {
  constexpr int lanes = Lanes<T>::count;
  const int search = fixed > 0 ? fixed : any_search;
  extern __shared__ __align__(16) unsigned char shared[];
  T* const tile = reinterpret_cast<T*>(shared);
  const int half_depth = (fixed > 0 ? max_warps_z : static_cast<int>(blockDim.z)) * slices_per_lane;
  const int block_rows = (fixed > 0 ? max_warps_y : static_cast<int>(blockDim.y)) * rows_per_lane;
  const CubeWindow window(block_rows, half_depth, search);
  fill_cubes(planes, space, search, middle * scale, window, half_depth, tile);
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x);
  const int row = window.columns, slice = window.columns * window.rows;
  const int y0 = static_cast<int>(threadIdx.y) * rows_per_lane,
            z0 = static_cast<int>(threadIdx.z) * slices_per_lane;
  // Index of the first slice of this thread among the wanted slices.
  const int place = static_cast<int>(blockIdx.z) * half_depth * lanes + z0;
  if (place >= planes.count) return;  // true for complete warps
  T reference[slices_per_lane + 2][rows_per_lane + 2];
#pragma unroll
  for (int z = 0; z < slices_per_lane + 2; ++z)
#pragma unroll
    for (int y = 0; y < rows_per_lane + 2; ++y)
      reference[z][y] = tile[(z0 + z + search) * slice + (y0 + y + search) * row + lane + search];

  Voxels<T> voxels;
  clear(voxels);
  FloatVoxels floats;
  if constexpr (in_floats)
    for (int i = 0; i < slices_per_lane * rows_per_lane * 2; ++i)
      floats.sums[i] = 0, floats.weights[i] = 0;
  const T mean_share = Lanes<T>::all(curve.mean_share);
  for (int dz = -search; dz <= search; ++dz) {
    const auto top_of = [&](int z, int i) {
      const int at = place + z + i * half_depth + search + 1 + dz;
      return (planes.available >> at & 1) != 0 ? curve.top : -60000.0f;
    };
    T top[slices_per_lane];
#pragma unroll
    for (int z = 0; z < slices_per_lane; ++z)
      top[z] = Lanes<T>::make(top_of(z, 0), lanes == 2 ? top_of(z, 1) : 0.0f);
#pragma unroll 1
    for (int dy = 0; dy <= 2 * search; ++dy)
#pragma unroll 1
      for (int dx = 0; dx <= 2 * search; ++dx)
        add_cubes<mean, exponential>(
            tile + (z0 + dz + search) * slice + (y0 + dy) * row + lane + dx, row, slice, reference,
            top, mean_share, voxels);
    if constexpr (in_floats) move_to(floats, voxels);
  }

  const int x = static_cast<int>(blockIdx.x) * columns_per_warp + lane - 1;
  if (lane == 0 || lane == 31 || x >= space.width) return;
#pragma unroll
  for (int z = 0; z < slices_per_lane; ++z)
#pragma unroll
    for (int y = 0; y < rows_per_lane; ++y)
#pragma unroll
      for (int i = 0; i < lanes; ++i) {
        const int to_z = place + z + i * half_depth;
        const int to_y = static_cast<int>(blockIdx.y * blockDim.y) * rows_per_lane + y0 + y;
        if (to_z >= planes.count || to_y >= space.height) continue;
        const int at = (z * rows_per_lane + y) * 2 + i;
        const float sum = in_floats ? floats.sums[at] : Lanes<T>::at(voxels.sums[z][y], i);
        const float weights =
            in_floats ? floats.weights[at] : Lanes<T>::at(voxels.weights[z][y], i);
        const float own = planes.slice[to_z + search + 1][space.at(x, to_y)];
        results[to_z * space.flat_size() + space.flat_at(x, to_y)] = (own + sum / weights) / scale;
      }
}

std::size_t bytes_of(const CubeBlock& block, int search) {
  return CubeWindow(block.rows(), block.half_depth(), search).size() * sizeof(float);
}

/// Returns the largest thread block that fits in the shared memory of the current device. If no
/// thread block fits, the result has no warps.
CubeBlock block_for(int search, int lanes) {
  const auto limits = lull::cuda::device_limits();
  for (const CubeBlock& block :
       {CubeBlock{4, 2, lanes}, CubeBlock{4, 1, lanes}, CubeBlock{2, 1, lanes}})
    if (bytes_of(block, search) <= limits.dynamic_limit()) return block;
  return {0, 0, lanes};
}

using CubesKernel = void (*)(VolumePlanes, Space, int, Curve, float, float*);

/// Returns the kernel compiled for the search radius of a profile. For other radii or smaller
/// thread blocks, returns the kernel for any radius.
template <class T, bool mean, bool exponential, bool in_floats>
CubesKernel kernel_for(const CubeBlock& block, int search) {
  const bool is_largest = block.warps_y == max_warps_y && block.warps_z == max_warps_z;
  if constexpr (Lanes<T>::count == 2 && !exponential && !in_floats) {
    if (is_largest && search == 2) return cubes_kernel<T, mean, exponential, in_floats, 2>;
    if (is_largest && search == 3) return cubes_kernel<T, mean, exponential, in_floats, 3>;
  }
  if constexpr (!mean && exponential && in_floats)
    if (is_largest && search == 5) return cubes_kernel<T, mean, exponential, in_floats, 5>;
  return cubes_kernel<T, mean, exponential, in_floats, 0>;
}

template <class T, bool mean, bool exponential, bool in_floats>
void launch_cubes(const CubesPlan& plan, const VolumePlanes& planes, float* results,
                  cudaStream_t stream) {
  const CubeBlock block = block_for(plan.search, Lanes<T>::count);
  const CubesKernel kernel = kernel_for<T, mean, exponential, in_floats>(block, plan.search);
  lull::cuda::allow_shared_memory(kernel);
  const dim3 grid((plan.space.width + columns_per_warp - 1) / columns_per_warp,
                  (plan.space.height + block.rows() - 1) / block.rows(),
                  (planes.count + block.slices() - 1) / block.slices());
  kernel<<<grid, block.threads(), bytes_of(block, plan.search), stream>>>(
      planes, plan.space, plan.search, plan.curve, plan.scale, results);
  lull::cuda::check(cudaGetLastError());
}

template <class T, bool mean, bool exponential>
void launch_adding(const CubesPlan& plan, const VolumePlanes& planes, float* results,
                   cudaStream_t stream) {
  constexpr int max_search_in_halves = 3;  // search radius with up to 343 candidates
  if (Lanes<T>::count == 1 || plan.search <= max_search_in_halves)
    launch_cubes<T, mean, exponential, false>(plan, planes, results, stream);
  else
    launch_cubes<__half2, mean, exponential, true>(plan, planes, results, stream);
}

template <class T>
void launch_weighing(const CubesPlan& plan, const VolumePlanes& planes, float* results,
                     cudaStream_t stream) {
  const bool mean = plan.curve.mean_share > 0;
  if (mean && plan.curve.exponential)
    launch_adding<T, true, true>(plan, planes, results, stream);
  else if (mean)
    launch_adding<T, true, false>(plan, planes, results, stream);
  else if (plan.curve.exponential)
    launch_adding<T, false, true>(plan, planes, results, stream);
  else
    launch_adding<T, false, false>(plan, planes, results, stream);
}

}  // namespace

bool CubesPlan::fits() const { return block_for(search, 1).warps_y > 0; }

void estimate_cubes(const CubesPlan& plan, const VolumePlanes& planes, float* results,
                    cudaStream_t stream) {
  if (plan.halves)
    launch_weighing<__half2>(plan, planes, results, stream);
  else
    launch_weighing<float>(plan, planes, results, stream);
}

}  // namespace lull::nlm::cuda
