// Linear combinations of the patches of groups (definition: linear/params.h).

// Shared memory contains the search windows and the aggregation sums of neighbouring reference
// patches. All sums are integers, so the order of additions does not change the result.

// Tensor cores compute the matrix products, in half precision with single-precision sums.

// Step 1: The warp computes the mean patch in half precision. Samples are differences from a common
// offset, so half precision represents flat areas exactly.

// Step 2: The warp subtracts the mean patch from all patches, and computes the Gram matrix of the
// differences. From this matrix, the warp computes the inverse of Q (linear/params.h). Both results
// are in single precision.

// Step 3: The warp computes the matrix Theta (linear/params.h) in half precision, and the weight of
// each row of Theta.

// Step 4: The warp computes the estimates for 16 samples of each patch at a time, and adds them to
// the sums.

// The noise level t of z follows from the moments of y - z, which another kernel computes for all
// patches.

// Unused elements of small groups refer to the reference patch. Their rows of the Gram matrix are
// zero, so Theta does not mix unused elements with members.

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "linear/cuda/combine_group.cuh"
#include "linear/cuda/combine_plan.h"
#include "linear/cuda/combine_sums.h"
#include "linear/cuda/kernels.h"
#include "linear/groups.h"

namespace lull::linear {
namespace {

constexpr int max_pairs = (max_side * ((max_side + 1) / 2) + 7) / 8 * 8;

struct CombineJob {
  CombineArgs args;
  CombinePlan plan;
};

/// The rectangle that contains the search windows of all reference patches of a thread block.
struct Region {
  int x, y, pitch, rows;

  /// Calls use(x, y, index) for each sample of this rectangle that is inside the picture. (x, y) is
  /// the position of the sample in the picture, and `index` is its index in the rectangle.
  template <class Use>
  __device__ __forceinline__ void for_samples(const Margins& m, Use use) const {
    for (int n = threadIdx.x; n < pitch * rows; n += blockDim.x) {
      const int sample_x = x + n % pitch, sample_y = y + n / pitch;
      if (sample_x >= 0 && sample_y >= 0 && sample_x < m.width && sample_y < m.height)
        use(sample_x, sample_y, n);
    }
  }
};

__device__ void load_words(const Region& region, const Margins& m, const float* plane, float level,
                           std::uint32_t* words) {
  for (int n = threadIdx.x; n < region.pitch * region.rows; n += blockDim.x) {
    const int x = region.x + n % region.pitch;
    const float* const row =
        plane + m.at(0, min(max(region.y + n / region.pitch, 0), m.height - 1));
    words[n] = pack_halves(row[min(max(x, 0), m.width - 1)] - level,
                           row[min(max(x + 1, 0), m.width - 1)] - level);
  }
}

/// Writes the offset of each member in the search windows. Returns, in all lanes, the moments of y
/// - z, summed over all members.
template <int T, Kind kind>
__device__ __forceinline__ float2 find_places(const CombineJob& job, const Region& region, int i,
                                              int j, int count, int* places, int* positions) {
  const CombineArgs& a = job.args;
  const int x0 = a.groups.grid.x(i), y0 = a.groups.grid.y(j), window = a.groups.sizes.window;
  const std::size_t reference = static_cast<std::size_t>(j) * a.groups.grid.count_x + i;
  float2 moments{0, 0};
  for (int m = threadIdx.x % 32; m < 16 * T; m += 32) {
    int x = x0, y = y0;
    if (m < count) {
      const int index = a.groups.members[reference * a.groups.sizes.group + m];
      if (index > 0) x += (index - 1) % window - window / 2, y += (index - 1) / window - window / 2;
      if constexpr (kind != Kind::pilot) {
        const float2 of_patch = a.moments[a.margins.at(x, y)];
        moments.x += of_patch.x, moments.y += of_patch.y;
      }
    }
    places[m] = (y - region.y) * region.pitch + x - region.x;
    if (positions != nullptr) positions[m] = (y - region.y) << 16 | (x - region.x);
  }
  __syncwarp();
  if constexpr (kind != Kind::pilot) moments = {warp_sum(moments.x), warp_sum(moments.y)};
  return moments;
}

template <int T, Kind kind, bool white>
__global__ void __launch_bounds__(32 * max_combine_warps) combine_kernel(const CombineJob job) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& block = *reinterpret_cast<BlockMemory<T, max_pairs>*>(memory);
  const CombineArgs& a = job.args;
  const Margins& m = a.margins;
  const ReferenceGrid& grid = a.groups.grid;
  const int side = a.groups.sizes.side, r = a.groups.sizes.window / 2;
  const int i0 = blockIdx.x * job.plan.across, j0 = blockIdx.y * job.plan.down;
  const Region region{grid.x(i0) - r, grid.y(j0) - r, job.plan.pitch, job.plan.rows};
  const int size = job.plan.pitch * job.plan.rows;
  constexpr bool has_z = kind != Kind::pilot;
  auto* const x = reinterpret_cast<std::uint32_t*>(memory + sizeof(block));
  auto* const z = has_z ? x + size : x;
  auto* const weights = z + size;
  int* const sums_x = reinterpret_cast<int*>(weights + size);
  int* const sums_z = kind == Kind::middle ? sums_x + size : nullptr;

  const int in_row = (side + 1) / 2, pairs = side * in_row, steps = (pairs + 7) / 8;
  for (int n = threadIdx.x; n < 8 * steps; n += blockDim.x) {
    const int column = n % in_row * 2;
    block.pairs[n] = n >= pairs ? SamplePair{}
                                : SamplePair{n / in_row * job.plan.pitch + column,
                                             column + 1 < side ? 0xffffffffu : 0x0000ffffu};
  }
  const float level =
      a.x[m.at(min(grid.x(i0) + side, m.width - 1), min(grid.y(j0) + side, m.height - 1))];
  load_words(region, m, a.x, level, x);
  if constexpr (has_z) load_words(region, m, a.z, level, z);
  for (int n = threadIdx.x; n < size; n += blockDim.x) {
    weights[n] = 0, sums_x[n] = 0;
    if constexpr (kind == Kind::middle) sums_z[n] = 0;
  }
  __syncthreads();
  const BlockWork work{.x = x,
                       .z = z,
                       .sums_x = sums_x,
                       .sums_z = sums_z,
                       .pairs = block.pairs,
                       .steps = steps,
                       .level = level,
                       .value_scale = block_value_scale,
                       .samples = static_cast<float>(side * side),
                       .sigma = a.sigma,
                       .autocorrelation = a.autocorrelation};
  const int warp = threadIdx.x / 32;
  for (int n = warp; n < job.plan.across * job.plan.down; n += job.plan.warps) {
    const int i = i0 + n % job.plan.across, j = j0 + n / job.plan.across;
    if (i >= grid.count_x || j >= grid.count_y) continue;
    const int count = a.groups.counts[static_cast<std::size_t>(j) * grid.count_x + i];
    int* const places = block.places[warp];
    int* const positions = white ? nullptr : block.positions[warp];
    const float2 moments = find_places<T, kind>(job, region, i, j, count, places, positions);
    combine_group<T, kind, white>(
        work, a.step, count, moments, places, positions, block.mean[warp],
        [&](int row, std::uint32_t weight) { atomicAdd(weights + places[row], weight); });
  }
  __syncthreads();
  region.for_samples(m, [&](int sample_x, int sample_y, int n) {
    const int at = m.at(sample_x, sample_y);
    if (sums_x[n] != 0)
      atomicAdd(a.sums.x + at, static_cast<unsigned long long>(static_cast<long long>(sums_x[n])));
    if constexpr (kind == Kind::middle)
      if (sums_z[n] != 0)
        atomicAdd(a.sums.z + at,
                  static_cast<unsigned long long>(static_cast<long long>(sums_z[n])));
    if (weights[n] != 0) atomicAdd(a.sums.weights + at, weights[n]);
  });
}

template <int T, Kind kind, bool white>
void launch(const CombineArgs& args, cudaStream_t stream) {
  const GroupSizes& sizes = args.groups.sizes;
  constexpr int words = kind == Kind::pilot ? 3 : kind == Kind::middle ? 5 : 4;
  CombineJob job{.args = args};
  job.plan = plan_combine(sizes, sizeof(BlockMemory<T, max_pairs>), sizeof(std::uint32_t) * words,
                          cuda::device_limits());
  const auto kernel = combine_kernel<T, kind, white>;
  cuda::allow_shared_memory(kernel);
  const ReferenceGrid& grid = args.groups.grid;
  const dim3 blocks((grid.count_x + job.plan.across - 1) / job.plan.across,
                    (grid.count_y + job.plan.down - 1) / job.plan.down);
  kernel<<<blocks, 32 * job.plan.warps, job.plan.bytes, stream>>>(job);
  cuda::check(cudaGetLastError());
}

template <int T, bool white>
void launch(const CombineArgs& args, cudaStream_t stream) {
  if (args.step.is_pilot)
    launch<T, Kind::pilot, white>(args, stream);
  else if (args.step.tau > 0)
    launch<T, Kind::middle, white>(args, stream);
  else
    launch<T, Kind::last, white>(args, stream);
}

template <bool white>
void launch(const CombineArgs& args, cudaStream_t stream) {
  if (args.groups.sizes.group <= 16)
    launch<1, white>(args, stream);
  else if (args.groups.sizes.group <= 32)
    launch<2, white>(args, stream);
  else
    launch<3, white>(args, stream);
}

}  // namespace

void combine(const CombineArgs& args, cudaStream_t stream) {
  if (args.autocorrelation == nullptr)
    launch<true>(args, stream);
  else
    launch<false>(args, stream);
}

}  // namespace lull::linear
