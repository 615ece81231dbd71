// Linear combinations of the patches of groups from several frames (definition: linear/params.h).
// One warp combines the patches of a group, as in combine.cu.

// A thread block processes reference patches of one bundle (8x4 reference patches with the same
// motion vectors). An array in shared memory (WindowAtlas) contains the search windows in all
// frames.

// Thread blocks sum the estimates of all members in shared memory, and add these sums to device
// memory at the end. A member has only one weight for all its samples, so thread blocks add weights
// to device memory directly.

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "linear/cuda/combine_group.cuh"
#include "linear/cuda/kernels_time.h"
#include "linear/cuda/time_motion.cuh"
#include "linear/groups.h"

namespace lull::linear {
namespace {

struct TimeCombineJob {
  TimeCombineArgs args;
  TimePlan plan;
};

template <int T>
struct TimeBlockMemory {
  BlockMemory<T, max_time_pairs> group;
  BlockMotion motion;
  /// The frame of each member, and the offset of its patch in the plane.
  int frames[max_combine_warps][16 * T], origins[max_combine_warps][16 * T];
};

/// The search windows of all reference patches of a thread block. In each frame, these windows lie
/// in one rectangle.
struct BlockWindows {
  const TimeCombineJob& job;
  const BlockMotion& motion;
  int x, y;  // position of the first reference patch

  __device__ __forceinline__ const WindowAtlas& atlas() const {
    return job.plan.atlases[motion.halves - 1];
  }
  /// Returns the offset of the search windows of a frame. The frame must contain candidates.
  __device__ __forceinline__ int first(int f) const {
    return atlas().first[motion.halves == 2 && f > job.args.frames.last ? f - 1 : f];
  }

  /// Calls use(frame, x, y, index) for each sample of all search windows, including samples outside
  /// the picture.
  template <class Use>
  __device__ __forceinline__ void for_samples(Use use) const {
    const TimeCombineArgs& a = job.args;
    const GroupSizes& sizes = a.groups.sizes;
    const int pitch = atlas().pitch, words = atlas().words;
    const int warp = threadIdx.x / 32, warps = static_cast<int>(blockDim.x) / 32;
    for (int half = 0; half < motion.halves; ++half)
      for (int f = 0; f < a.frames.count; ++f) {
        if (!has_candidates(a.frames, f, motion.halves)) continue;
        const int window = f == 0 ? sizes.window : sizes.temporal_window;
        const int width = window + sizes.side - 1 + (job.plan.across() - 1) * sizes.step;
        const int rows = window + sizes.side - 1 + (job.plan.down() - 1) * sizes.step;
        const int left = x + motion.centre[f].x - window / 2;
        const int top = y + motion.centre[f].y - window / 2;
        const int frame = half == 0 ? f : a.frames.partner[f];
        const int begin = half * words + first(f);
        for (int row = warp; row < rows; row += warps)
          for (int column = threadIdx.x % 32; column < width; column += 32)
            use(frame, left + column, top + row, begin + row * pitch + column);
      }
  }
};

/// Writes the frame, the position and the offset (in the search windows) of each member. Returns,
/// in all lanes, the moments of y - z, summed over all members.
template <int T, Kind kind, bool white>
__device__ __forceinline__ float2 find_time_places(const TimeCombineJob& job,
                                                   const BlockWindows& windows, int i, int j,
                                                   int count, TimeBlockMemory<T>& block) {
  const TimeCombineArgs& a = job.args;
  const GroupSizes& sizes = a.groups.sizes;
  const int warp = threadIdx.x / 32, x0 = a.groups.grid.x(i), y0 = a.groups.grid.y(j);
  const int own = sizes.window * sizes.window;
  const int other = sizes.temporal_window * sizes.temporal_window;
  const std::size_t reference = static_cast<std::size_t>(j) * a.groups.grid.count_x + i;
  float2 moments{0, 0};
  for (int m = threadIdx.x % 32; m < 16 * T; m += 32) {
    int position = own / 2, frame = 0, window = sizes.window;  // those of the reference patch
    if (m < count) {
      const int index = a.groups.members[reference * sizes.group + m];
      if (index > own) {
        frame = 1 + (index - 1 - own) / other;
        position = (index - 1 - own) % other;
        window = sizes.temporal_window;
      } else if (index > 0) {
        position = index - 1;
      }
    }
    // Offset of the member from the top-left corner of the search windows in its frame.
    const int u = x0 - windows.x + position % window, v = y0 - windows.y + position / window;
    const Motion centre = windows.motion.centre[frame];
    const int origin =
        a.margins.at(windows.x + centre.x - window / 2 + u, windows.y + centre.y - window / 2 + v);
    block.group.places[warp][m] = windows.first(frame) + v * windows.atlas().pitch + u;
    block.frames[warp][m] = frame;
    block.origins[warp][m] = origin;
    // Members of different frames get positions 1024 rows apart, so SharedNoise treats their noise
    // as independent.
    if constexpr (!white) block.group.positions[warp][m] = (v + frame * 1024) << 16 | u;
    if constexpr (kind != Kind::pilot)
      if (m < count) {
        const float2 of_patch = a.pictures[frame].moments[origin];
        moments.x += of_patch.x, moments.y += of_patch.y;
      }
  }
  __syncwarp();
  if constexpr (kind != Kind::pilot) moments = {warp_sum(moments.x), warp_sum(moments.y)};
  return moments;
}

/// Lists the pairs of adjacent samples of a patch. Returns the number of steps of a matrix product
/// that process all pairs of a patch, 8 pairs in each step.
template <int T>
__device__ __forceinline__ int find_pairs(const TimeCombineJob& job, int halves,
                                          TimeBlockMemory<T>& block) {
  const int side = job.args.groups.sizes.side, in_row = (side + 1) / 2, in_half = side * in_row;
  const int steps = (halves * in_half + 7) / 8;
  const WindowAtlas& atlas = job.plan.atlases[halves - 1];
  for (int n = threadIdx.x; n < 8 * steps; n += blockDim.x) {
    const int half = n / in_half, row = n % in_half / in_row, column = n % in_row * 2;
    block.group.pairs[n] = half >= halves
                               ? SamplePair{}
                               : SamplePair{half * atlas.words + row * atlas.pitch + column,
                                            column + 1 < side ? 0xffffffffu : 0x0000ffffu};
  }
  return steps;
}

template <int T, Kind kind, bool white>
__global__ void __launch_bounds__(32 * max_combine_warps)
    combine_time_kernel(const __grid_constant__ TimeCombineJob job) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& block = *reinterpret_cast<TimeBlockMemory<T>*>(memory);
  const TimeCombineArgs& a = job.args;
  const Margins& m = a.margins;
  const ReferenceGrid& grid = a.groups.grid;
  const GroupSizes& sizes = a.groups.sizes;
  const int i0 = blockIdx.x * job.plan.across(), j0 = blockIdx.y * job.plan.down();
  find_motion(a.frames, grid, i0, j0, block.motion);
  const int halves = block.motion.halves;
  const int size = halves * job.plan.atlases[halves - 1].words + 1;
  constexpr bool has_z = kind != Kind::pilot;
  auto* const x = reinterpret_cast<std::uint32_t*>(memory + sizeof(block));
  auto* const z = has_z ? x + size : x;
  int* const sums_x = reinterpret_cast<int*>(z + size);
  int* const sums_z = kind == Kind::middle ? sums_x + size : nullptr;

  const int steps = find_pairs(job, halves, block);
  const BlockWindows windows{job, block.motion, grid.x(i0), grid.y(j0)};
  const float level = a.pictures[0].x[m.at(min(windows.x + sizes.side, m.width - 1),
                                           min(windows.y + sizes.side, m.height - 1))];
  windows.for_samples([&](int frame, int sample_x, int sample_y, int n) {
    const int row = m.at(0, min(max(sample_y, 0), m.height - 1));
    const int first = row + min(max(sample_x, 0), m.width - 1);
    const int second = row + min(max(sample_x + 1, 0), m.width - 1);
    const TimeFrame& of = a.pictures[frame];
    x[n] = pack_halves(of.x[first] - level, of.x[second] - level);
    if constexpr (has_z) z[n] = pack_halves(of.z[first] - level, of.z[second] - level);
  });
  for (int n = threadIdx.x; n < size; n += blockDim.x) {
    sums_x[n] = 0;
    if constexpr (kind == Kind::middle) sums_z[n] = 0;
  }
  __syncthreads();
  const BlockWork work{.x = x,
                       .z = z,
                       .sums_x = sums_x,
                       .sums_z = sums_z,
                       .pairs = block.group.pairs,
                       .steps = steps,
                       .level = level,
                       .value_scale = a.value_scale,
                       .samples = static_cast<float>(sizes.samples(halves)),
                       .sigma = a.sigma,
                       .autocorrelation = a.autocorrelation};
  const int warp = threadIdx.x / 32;
  const int i = i0 + warp % job.plan.across(), j = j0 + warp / job.plan.across();
  if (i < grid.count_x && j < grid.count_y) {
    const int count = a.groups.counts[static_cast<std::size_t>(j) * grid.count_x + i];
    const float2 moments = find_time_places<T, kind, white>(job, windows, i, j, count, block);
    combine_group<T, kind, white>(
        work, a.step, count, moments, block.group.places[warp],
        white ? nullptr : block.group.positions[warp], block.group.mean[warp],
        [&](int row, std::uint32_t weight) {
          const int frame = block.frames[warp][row], origin = block.origins[warp][row];
          atomicAdd(a.pictures[frame].sums.weights + origin, weight);
          if (halves == 2)
            atomicAdd(a.pictures[a.frames.partner[frame]].sums.weights + origin, weight);
        });
  }
  __syncthreads();
  windows.for_samples([&](int frame, int sample_x, int sample_y, int n) {
    if (sample_x < 0 || sample_y < 0 || sample_x >= m.width || sample_y >= m.height) return;
    const int at = m.at(sample_x, sample_y);
    const TimeSums& sums = a.pictures[frame].sums;
    if (sums_x[n] != 0) atomicAdd(sums.x + at, sums_x[n]);
    if constexpr (kind == Kind::middle)
      if (sums_z[n] != 0) atomicAdd(sums.z + at, sums_z[n]);
  });
}

/// Returns the plan that divides the work of one step of the filter (the pilot or an iteration)
/// among thread blocks.
template <int T, Kind kind>
TimePlan plan_step(const GroupSizes& sizes, int frames, const cuda::DeviceLimits& limits) {
  constexpr int words = kind == Kind::pilot ? 2 : kind == Kind::middle ? 4 : 3;
  return plan_over_time(sizes, frames, sizeof(TimeBlockMemory<T>), sizeof(std::uint32_t) * words,
                        limits);
}

template <int T, Kind kind, bool white>
void launch(const TimeCombineArgs& args, cudaStream_t stream) {
  TimeCombineJob job{.args = args, .plan = {}};
  job.plan = plan_step<T, kind>(args.groups.sizes, args.max_frames_searched, cuda::device_limits());
  const auto kernel = combine_time_kernel<T, kind, white>;
  cuda::allow_shared_memory(kernel);
  const ReferenceGrid& grid = args.groups.grid;
  const int across = job.plan.across(), down = job.plan.down();
  const dim3 blocks((grid.count_x + across - 1) / across, (grid.count_y + down - 1) / down);
  kernel<<<blocks, 32 * job.plan.warps(), job.plan.bytes, stream>>>(job);
  cuda::check(cudaGetLastError());
}

// The template argument T of the kernel limits its groups to 16 * T patches. The first step (the
// pilot) uses one of two values of T: the first constant for groups of up to 16 patches, and the
// second constant for larger groups. All later steps use the third constant.
constexpr int small_pilot_blocks = 1, pilot_blocks = 2, iteration_blocks = 3;

bool is_small(const GroupSizes& pilot) { return pilot.group <= 16 * small_pilot_blocks; }

template <bool white>
void launch(const TimeCombineArgs& args, cudaStream_t stream) {
  if (args.step.is_pilot && is_small(args.groups.sizes))
    launch<small_pilot_blocks, Kind::pilot, white>(args, stream);
  else if (args.step.is_pilot)
    launch<pilot_blocks, Kind::pilot, white>(args, stream);
  else if (args.step.tau > 0)
    launch<iteration_blocks, Kind::middle, white>(args, stream);
  else
    launch<iteration_blocks, Kind::last, white>(args, stream);
}

}  // namespace

bool fits_over_time(const SetParams& params, int frames, const cuda::DeviceLimits& limits) {
  const auto plan_pilot = is_small(params.pilot) ? plan_step<small_pilot_blocks, Kind::pilot>
                                                 : plan_step<pilot_blocks, Kind::pilot>;
  return params.pilot.group <= 16 * pilot_blocks &&
         params.iteration.group <= 16 * iteration_blocks && !params.iteration.pairs &&
         plan_pilot(params.pilot, frames, limits).warps() > 0 &&
         plan_step<iteration_blocks, Kind::middle>(params.iteration, frames, limits).warps() > 0;
}

void combine_over_time(const TimeCombineArgs& args, cudaStream_t stream) {
  if (args.autocorrelation == nullptr)
    launch<true>(args, stream);
  else
    launch<false>(args, stream);
}

}  // namespace lull::linear
