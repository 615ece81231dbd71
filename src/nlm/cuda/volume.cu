// Patches of 3x3x3 around every sample of a volume.
//
// A lane works on a column of samples, `deep` slices by `high` rows, and sees one more on all
// sides: for each displacement it sums squared differences over three rows and three slices in
// registers and over three columns with the lanes beside it. Sums of three are taken in one order
// everywhere, so that a sample's bytes do not depend on where in a thread's work it is.
//
// In half precision a lane does two columns at a time, the second half of the block's slices
// further on.

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "nlm/cuda/kernels.h"
#include "nlm/cuda/lanes.cuh"

namespace lull::nlm::cuda {
namespace {

constexpr int high = 4, deep = 4;
constexpr int wide = 30;  // columns of a warp: the outer lanes have no neighbours

/// What a thread block works on: warps below each other, and behind each other along z.
struct CubeBlock {
  int warps_y, warps_z, lanes;
  constexpr int rows() const { return warps_y * high; }
  constexpr int half_depth() const { return warps_z * deep; }
  constexpr int slices() const { return half_depth() * lanes; }
  constexpr dim3 threads() const { return dim3(32, warps_y, warps_z); }
};

/// Its samples in shared memory.
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
  const int x0 = static_cast<int>(blockIdx.x) * wide - 1 - search;
  const int y0 = static_cast<int>(blockIdx.y * blockDim.y) * high - 1 - search;
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
__device__ __forceinline__ T sum_beside(T v) {
  return sum3(__shfl_up_sync(~0u, v, 1), v, __shfl_down_sync(~0u, v, 1));
}

/// Sums over three rows. Pairs that two of them have are taken once: rows are where they are in a
/// thread wherever a volume is cut.
template <class T>
__device__ __forceinline__ void sum_rows(const T (&rows)[high + 2], T (&sums)[high]) {
#pragma unroll
  for (int y = 0; y < high; y += 2) {
    const T both = add(rows[y + 1], rows[y + 2]);
    sums[y] = add(rows[y], both);
    sums[y + 1] = add(both, rows[y + 3]);
  }
}

/// What a thread adds up.
template <class T>
struct Voxels {
  T sums[deep][high], weights[deep][high];
};

/// Sums in halves lose small weights once they are large: they go here after every slice of
/// candidates. Memory, for there are not so many registers.
struct FloatVoxels {
  volatile float sums[deep * high * 2], weights[deep * high * 2];
};

/// The candidates at one displacement. `candidate`: the first of the patches' samples. `top`: of
/// each slice, such that candidates which do not exist get no weight.
template <bool mean, bool exponential, class T>
__device__ __forceinline__ void add_cubes(const T* candidate, int row, int slice,
                                          const T (&reference)[deep + 2][high + 2],
                                          const T (&top)[deep], T mean_share, Voxels<T>& voxels) {
  T squares[3][high], sums[3][high], centres[2][high];  // of the last slices
#pragma unroll
  for (int z = 0; z < deep + 2; ++z) {
    T d[high + 2], square[high + 2];
#pragma unroll
    for (int y = 0; y < high + 2; ++y) {
      d[y] = sub(candidate[z * slice + y * row], reference[z][y]);
      square[y] = mul(d[y], d[y]);
    }
    sum_rows(square, squares[z % 3]);
    if constexpr (mean) sum_rows(d, sums[z % 3]);
    if (z >= 2) {
#pragma unroll
      for (int y = 0; y < high; ++y) {
        T q = sum_beside(sum3(squares[(z - 2) % 3][y], squares[(z - 1) % 3][y], squares[z % 3][y]));
        if constexpr (mean) {
          const T sum =
              sum_beside(sum3(sums[(z - 2) % 3][y], sums[(z - 1) % 3][y], sums[z % 3][y]));
          q = mul_add(mul(mean_share, sum), sum, q);
        }
        const T w = weight<exponential>(top[z - 2], q);
        voxels.weights[z - 2][y] = add(voxels.weights[z - 2][y], w);
        voxels.sums[z - 2][y] = mul_add(w, centres[(z - 1) % 2][y], voxels.sums[z - 2][y]);
      }
    }
#pragma unroll
    for (int y = 0; y < high; ++y) centres[z % 2][y] = d[y + 1];
  }
}

template <class T>
__device__ __forceinline__ void clear(Voxels<T>& voxels) {
#pragma unroll
  for (int z = 0; z < deep; ++z)
#pragma unroll
    for (int y = 0; y < high; ++y) voxels.sums[z][y] = voxels.weights[z][y] = Lanes<T>::all(0);
}

/// Moves what halves added up to floats.
template <class T>
__device__ __forceinline__ void move_to(FloatVoxels& floats, Voxels<T>& voxels) {
#pragma unroll
  for (int z = 0; z < deep; ++z)
#pragma unroll
    for (int y = 0; y < high; ++y)
#pragma unroll
      for (int i = 0; i < Lanes<T>::count; ++i) {
        const int at = (z * high + y) * 2 + i;
        floats.sums[at] = floats.sums[at] + Lanes<T>::at(voxels.sums[z][y], i);
        floats.weights[at] = floats.weights[at] + Lanes<T>::at(voxels.weights[z][y], i);
      }
  clear(voxels);
}

/// The largest thread block.
constexpr int most_warps_y = 4, most_warps_z = 2;

/// Thread blocks of CubeBlock::threads(). `many`: more candidates than halves can add up. `fixed`:
/// the search radius, of the largest thread blocks, so that the compiler knows all distances; 0:
/// any.
template <class T, bool mean, bool exponential, bool many, int fixed>
__global__ void __launch_bounds__(256, 2)
    cubes_kernel(const __grid_constant__ VolumePlanes planes, Space space, int any_search,
                 Curve curve, float scale, float* __restrict__ results) {
  constexpr int lanes = Lanes<T>::count;
  const int search = fixed > 0 ? fixed : any_search;
  extern __shared__ __align__(16) unsigned char shared[];
  T* const tile = reinterpret_cast<T*>(shared);
  const int half_depth = (fixed > 0 ? most_warps_z : static_cast<int>(blockDim.z)) * deep;
  const int block_rows = (fixed > 0 ? most_warps_y : static_cast<int>(blockDim.y)) * high;
  const CubeWindow window(block_rows, half_depth, search);
  fill_cubes(planes, space, search, middle * scale, window, half_depth, tile);
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x);
  const int row = window.columns, slice = window.columns * window.rows;
  const int y0 = static_cast<int>(threadIdx.y) * high, z0 = static_cast<int>(threadIdx.z) * deep;
  // Of the thread's samples, the first slice's place in `planes` less search + 1.
  const int place = static_cast<int>(blockIdx.z) * half_depth * lanes + z0;
  if (place >= planes.count) return;  // all of the warp
  T reference[deep + 2][high + 2];
#pragma unroll
  for (int z = 0; z < deep + 2; ++z)
#pragma unroll
    for (int y = 0; y < high + 2; ++y)
      reference[z][y] = tile[(z0 + z + search) * slice + (y0 + y + search) * row + lane + search];

  Voxels<T> voxels;
  clear(voxels);
  FloatVoxels floats;
  if constexpr (many)
    for (int i = 0; i < deep * high * 2; ++i) floats.sums[i] = 0, floats.weights[i] = 0;
  const T mean_share = Lanes<T>::all(curve.mean_share);
  for (int dz = -search; dz <= search; ++dz) {
    const auto top_of = [&](int z, int i) {
      const int at = place + z + i * half_depth + search + 1 + dz;
      return (planes.there >> at & 1) != 0 ? curve.top : -60000.0f;
    };
    T top[deep];
#pragma unroll
    for (int z = 0; z < deep; ++z)
      top[z] = Lanes<T>::make(top_of(z, 0), lanes == 2 ? top_of(z, 1) : 0.0f);
#pragma unroll 1
    for (int dy = 0; dy <= 2 * search; ++dy)
#pragma unroll 1
      for (int dx = 0; dx <= 2 * search; ++dx)
        add_cubes<mean, exponential>(
            tile + (z0 + dz + search) * slice + (y0 + dy) * row + lane + dx, row, slice, reference,
            top, mean_share, voxels);
    if constexpr (many) move_to(floats, voxels);
  }

  const int x = static_cast<int>(blockIdx.x) * wide + lane - 1;
  if (lane == 0 || lane == 31 || x >= space.width) return;
#pragma unroll
  for (int z = 0; z < deep; ++z)
#pragma unroll
    for (int y = 0; y < high; ++y)
#pragma unroll
      for (int i = 0; i < lanes; ++i) {
        const int to_z = place + z + i * half_depth;
        const int to_y = static_cast<int>(blockIdx.y * blockDim.y) * high + y0 + y;
        if (to_z >= planes.count || to_y >= space.height) continue;
        const int at = (z * high + y) * 2 + i;
        const float sum = many ? floats.sums[at] : Lanes<T>::at(voxels.sums[z][y], i);
        const float weights = many ? floats.weights[at] : Lanes<T>::at(voxels.weights[z][y], i);
        const float own = planes.slice[to_z + search + 1][space.at(x, to_y)];
        results[to_z * space.flat_size() + space.flat_at(x, to_y)] = (own + sum / weights) / scale;
      }
}

std::size_t bytes_of(const CubeBlock& block, int search) {
  return CubeWindow(block.rows(), block.half_depth(), search).size() * sizeof(float);
}

/// The largest thread block that the current device has the shared memory for; none: no warps.
CubeBlock block_for(int search, int lanes) {
  const auto limits = lull::cuda::device_limits();
  for (const CubeBlock& block :
       {CubeBlock{4, 2, lanes}, CubeBlock{4, 1, lanes}, CubeBlock{2, 1, lanes}})
    if (bytes_of(block, search) <= limits.dynamic_limit()) return block;
  return {0, 0, lanes};
}

using CubesKernel = void (*)(VolumePlanes, Space, int, Curve, float, float*);

/// With the search radius of a profile where it fits.
template <class T, bool mean, bool exponential, bool many>
CubesKernel kernel_for(const CubeBlock& block, int search) {
  const bool whole = block.warps_y == most_warps_y && block.warps_z == most_warps_z;
  if constexpr (Lanes<T>::count == 2 && !exponential && !many) {
    if (whole && search == 2) return cubes_kernel<T, mean, exponential, many, 2>;
    if (whole && search == 3) return cubes_kernel<T, mean, exponential, many, 3>;
  }
  if constexpr (!mean && exponential && many)
    if (whole && search == 5) return cubes_kernel<T, mean, exponential, many, 5>;
  return cubes_kernel<T, mean, exponential, many, 0>;
}

template <class T, bool mean, bool exponential, bool many>
void launch_cubes(const CubesPlan& plan, const VolumePlanes& planes, float* results,
                  cudaStream_t stream) {
  const CubeBlock block = block_for(plan.search, Lanes<T>::count);
  const CubesKernel kernel = kernel_for<T, mean, exponential, many>(block, plan.search);
  lull::cuda::allow_shared_memory(kernel);
  const dim3 grid((plan.space.width + wide - 1) / wide,
                  (plan.space.height + block.rows() - 1) / block.rows(),
                  (planes.count + block.slices() - 1) / block.slices());
  kernel<<<grid, block.threads(), bytes_of(block, plan.search), stream>>>(
      planes, plan.space, plan.search, plan.curve, plan.scale, results);
  lull::cuda::check(cudaGetLastError());
}

template <class T, bool mean, bool exponential>
void launch_adding(const CubesPlan& plan, const VolumePlanes& planes, float* results,
                   cudaStream_t stream) {
  constexpr int few = 3;  // search radius: up to 343 candidates
  if (Lanes<T>::count == 1 || plan.search <= few)
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
