#pragma once
// Defines and launches the filter kernel that filter.cuh describes.

#include <algorithm>
#include <type_traits>

#include "bm3d/cuda/filter/filter_tiles.cuh"
#include "cuda/shared_memory.h"

namespace lull::bm3d::filter_detail {

/// Position and size of one group of a thread block, packed in one word; 0 if there is no group.
struct PackedHead {
  std::uint32_t bits = 0;

  PackedHead() = default;
  /// @param x, y  the offset of the reference patch from the first reference patch of the thread
  ///     block
  /// @param reference_tile_row  0 or 1: the row of reference tiles that contains the reference
  ///     patch
  /// @param place  the index 0..31 of the reference patch in two adjacent reference tiles
  __device__ PackedHead(unsigned x, unsigned y, unsigned log2_count, unsigned reference_tile_row,
                        unsigned place)
      : bits(1u << 31 | reference_tile_row << 20 | place << 15 | log2_count << 12 | y << 6 | x) {}
  __device__ bool exists() const { return bits != 0; }
  __device__ int x() const { return static_cast<int>(bits & 63); }
  __device__ int y() const { return static_cast<int>(bits >> 6 & 63); }
  __device__ int log2_count() const { return static_cast<int>(bits >> 12 & 7); }
  __device__ unsigned place() const { return bits >> 15 & 31; }
  __device__ unsigned reference_tile_row() const { return bits >> 20 & 1; }
};
static_assert((1 << 3) * patch <= 64, "steps of up to 8 between 8 reference patches");

/// Returns the index, in the batch, of the thread block's first reference tile (4x4 reference
/// patches).
__device__ __forceinline__ unsigned first_reference_tile(const KernelArgs& a) {
  return ((blockIdx.y << a.tile.log2_y) / reference_tile_side) * a.filter.batch.tiles_x +
         (blockIdx.x << a.tile.log2_x) / reference_tile_side;
}

__device__ inline PackedHead packed_head(const KernelArgs& a, const Work& work, unsigned r) {
  const FilterArgs& f = a.filter;
  const unsigned rx = r & ((1u << a.tile.log2_x) - 1), ry = r >> a.tile.log2_x;
  const unsigned local_i = (blockIdx.x << a.tile.log2_x) + rx;
  const unsigned local_j = (blockIdx.y << a.tile.log2_y) + ry;
  const int i = f.batch.x0 * reference_tile_side + local_i,
            j = f.batch.y0 * reference_tile_side + local_j;
  if (local_i / reference_tile_side >= static_cast<unsigned>(f.batch.tiles_x) ||
      local_j / reference_tile_side >= static_cast<unsigned>(f.batch.tiles_y) ||
      i >= f.grid.count_x || j >= f.grid.count_y)
    return {};
  const unsigned place = rx / reference_tile_side * references_per_tile +
                         ry % reference_tile_side * reference_tile_side + rx % reference_tile_side;
  const unsigned reference_tile_row = ry / reference_tile_side;
  const unsigned index =
      (first_reference_tile(a) + reference_tile_row * f.batch.tiles_x) * references_per_tile +
      place;
  return {static_cast<unsigned>(f.grid.x(i) - work.first_x),
          static_cast<unsigned>(f.grid.y(j) - work.first_y),
          static_cast<unsigned>(f.groups.log2_filtered(static_cast<int>(index))),
          reference_tile_row, place};
}

/// Position, size and displacements of one group, unpacked for a warp.
struct GroupHead {
  bool exists;
  int log2_count;
  std::uint32_t displacement;  // displacement of patch lane >> log2_repeats
  // Offset of the reference patch from the first reference patch of the thread block.
  int x, y;
};

template <int M>
__device__ __forceinline__ GroupHead fetch(const KernelArgs& a, PackedHead stored, int lane) {
  GroupHead head{stored.exists(), stored.log2_count(), 0, stored.x(), stored.y()};
  if (!head.exists) return head;
  const Groups& groups = a.filter.groups;
  const unsigned reference_tile =
      first_reference_tile(a) + stored.reference_tile_row() * a.filter.batch.tiles_x;
  head.displacement =
      groups
          .displacements[(reference_tile * references_per_tile + stored.place()) * groups.capacity +
                         ((lane & (M - 1)) >> (log2_slots(M) - head.log2_count))];
  return head;
}

/// The offsets of one patch in the samples and in the sums. If a group has few patches, the kernel
/// repeats each patch 2^log2_repeats times. Therefore, each lane has the offsets of the patch with
/// the index lane >> log2_repeats.
template <Staging staging>
struct PatchOffsets {
  PatchOffset<staging> samples;  // offset in the tile, or from the tile in the plane
  PatchOffset<staging> sums;     // offset in the plane
  int sum_word;                  // only with Staging::sums: offset in the tile
};

template <Staging staging>
__device__ __forceinline__ PatchOffsets<staging> place_of(const KernelArgs& a, const Work& work,
                                                          const GroupHead& head, int pitch) {
  const FilterArgs& f = a.filter;
  const int y = head.y + a.radius + displacement_y(head.displacement);
  const int x = head.x + a.radius + displacement_x(head.displacement) + work.skew;
  PatchOffsets<staging> place{y * pitch + x, work.start + y * f.margins.pitch + x, 0};
  if constexpr (staging != Staging::shared) {
    const int t = displacement_t(head.displacement) + max_temporal;
    const auto distance = static_cast<PatchOffset<staging>>(f.frames.distance.values[t]);
    place.samples += distance, place.sums += distance;
    if constexpr (staging == Staging::sums)
      place.sum_word = work.frame_sums[t].word + (y - a.radius) * a.tile.pitch + x - a.radius;
  }
  return place;
}

/// Filters a group with white noise (filter_group.cuh).
template <bool second_phase, int M, class Transform2d, class GroupTransform, Staging staging>
class WhiteGroup {
 public:
  static constexpr bool pairs_rows = true;  // a word of a tile contains a sample and the one below

  __device__ __forceinline__ WhiteGroup(const float* window, int lane)
      : operands_(window, lane), lane_(lane) {}

  /// Transforms and shrinks the group, and returns its weight. `offset` is the offset of the patch
  /// of this lane, in the tile or in the plane.
  __device__ __forceinline__ float shrink(const KernelArgs& a, const Work& work,
                                          const GroupHead& head, PatchOffset<staging> offset,
                                          int pitch) {
    const FilterArgs& f = a.filter;
    const int log2_repeats = log2_slots(M) - head.log2_count;
    const float sigma = f.sigma[work.plane], repeats = static_cast<float>(1 << log2_repeats);
    if constexpr (!second_phase) {
      transform(work, work.noisy_tile, f.noisy[work.plane], offset, pitch, group_);
      const int kept =
          threshold<M, GroupTransform>(a.strength.value * sigma * exp2f(0.5f * log2_repeats),
                                       a.strength.mean_factor, lane_, group_);
      return reciprocal(static_cast<float>(kept) * repeats);
    } else {
      transform(work, work.basic_tile, f.basic[work.plane], offset, pitch, group_);
      const float energy = wiener_factors<M, GroupTransform>(
          a.strength.value * sigma * sigma * repeats, lane_, group_);
      LaneGroup<M> noisy;
      transform(work, work.noisy_tile, f.noisy[work.plane], offset, pitch, noisy);
#pragma unroll
      for (int k = 0; k < M; ++k) group_[k] = group_[k] * noisy[k];
      return reciprocal(energy * repeats);
    }
  }

  /// Adds the estimates to `sums`. `level_offset` must be weight * (level - mid_level) *
  /// value_scale.
  template <class Offset, class Sum>
  __device__ __forceinline__ void aggregate(const FilterArgs&, Offset offset, float weight,
                                            float level_offset, Sum* sums, int pitch) {
    transform_back_across<M, GroupTransform>(group_);
    filter_detail::aggregate<M>(group_, offset, operands_, weight, level_offset, sums, pitch,
                                lane_);
  }

 private:
  __device__ __forceinline__ void transform(const Work& work, const std::uint32_t* tile,
                                            const float* plane, PatchOffset<staging> offset,
                                            int pitch, LaneGroup<M>& to) const {
    const auto transform = [&](const auto* first) {
      const PatchSamples<staging> samples(first, pitch, work.level, lane_);
      transform_patches<M>(samples, offset, operands_, to);
    };
    if constexpr (staging == Staging::shared)
      transform(tile);
    else
      transform(plane + work.start);
    transform_across<M, GroupTransform>(to);
  }

  const PatchOperands<Transform2d, M> operands_;
  const int lane_;
  LaneGroup<M> group_;
};

/// `Args` is KernelArgs or a derived class. Args::Group is the class that filters a group.
template <bool second_phase, int M, class Transform2d, class GroupTransform, Staging staging,
          class Args = KernelArgs>
__global__ void __launch_bounds__(threads,
                                  min_blocks(second_phase, M, !std::is_same_v<Args, KernelArgs>))
    filter_kernel(const Args a) {
  using Group =
      typename Args::template Group<second_phase, M, Transform2d, GroupTransform, staging>;
  extern __shared__ uint4 aligned_memory[];
  auto* const memory = reinterpret_cast<std::uint32_t*>(aligned_memory);
  __shared__ float window[patch];
  __shared__ FrameSums frame_sums[max_frames];
  __shared__ PackedHead heads[max_references];
  const FilterArgs& f = a.filter;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int planes_in_tile = staging != Staging::shared ? 0 : second_phase ? 2 : 1;
  int* const values = reinterpret_cast<int*>(memory + planes_in_tile * a.tile.words());
  Work work{memory,     memory + a.tile.words(),     values, values + a.tile.words(),
            frame_sums, static_cast<int>(blockIdx.z)};
  work.first_x = f.grid.x(f.batch.x0 * reference_tile_side + (blockIdx.x << a.tile.log2_x));
  work.first_y = f.grid.y(f.batch.y0 * reference_tile_side + (blockIdx.y << a.tile.log2_y));
  work.start = f.margins.at(work.first_x - a.radius, work.first_y - a.radius);
  work.skew = staging == Staging::shared ? work.start & 1 : 0;  // two samples are read at a time
  work.start -= work.skew;
  const float middle =
      f.noisy[work.plane][f.margins.at(work.first_x + patch / 2, work.first_y + patch / 2)];
  const float greatest = f.max_level[work.plane];
  work.level = fminf(fmaxf(middle, -greatest), greatest);

  if (threadIdx.x < patch) window[threadIdx.x] = f.window[threadIdx.x];
  const int references = a.tile.references();
  if (threadIdx.x < references) heads[threadIdx.x] = packed_head(a, work, threadIdx.x);
  load_tiles<second_phase, staging, Group::pairs_rows>(a, work, frame_sums);
  __syncthreads();

  Group group(window, lane);
  const int pitch = pitch_of<staging>(f);
  GroupHead next = fetch<M>(a, heads[warp], lane);
  for (int r = warp; r < references; r += warps) {
    const GroupHead head = next;
    next = r + warps < references ? fetch<M>(a, heads[r + warps], lane) : GroupHead{};
    if (!head.exists) continue;

    const PatchOffsets<staging> place = place_of<staging>(a, work, head, pitch);
    float weight = group.shrink(a, work, head, place.samples, pitch);
    // Rounds the weight to a value that half precision and the fixed-point format represent
    // exactly, so that sums of estimates and of weights are consistent.
    weight = __half2float(__float2half_rn(rintf(weight * weight_scale) / weight_scale));
    const float level_offset = weight * (work.level - mid_level) * value_scale;
    if constexpr (staging == Staging::direct)
      group.aggregate(f, place.samples, weight, level_offset,
                      f.sums[work.plane].numerator + work.start, pitch);
    else
      group.aggregate(f, staging == Staging::sums ? place.sum_word : place.samples, weight,
                      level_offset, work.values, tile_pitch_of<staging>(a));
    if (lane < M)
      atomicAdd(&f.sums[work.plane].denominator[place.sums],
                static_cast<std::uint32_t>(weight * weight_scale));
  }
  flush_tiles<staging>(a, work);
}

/// The arguments and the launch configuration of the kernel of a phase.
struct Launch {
  FilterPlan plan;
  KernelArgs args;
  dim3 grid;

  Launch(const FilterWork& work, const FilterArgs& filter, const PhaseParams& phase,
         const Strength& strength, const cuda::DeviceLimits& device)
      : plan(plan_filter(work, phase, device)), args{filter,   plan.tile,         phase.window / 2,
                                                     strength, plan.other_radius, plan.rows} {
    const int side_x = 1 << (plan.tile.log2_x - 2), side_y = 1 << (plan.tile.log2_y - 2);
    grid = dim3((filter.batch.tiles_x + side_x - 1) / side_x,
                (filter.batch.tiles_y + side_y - 1) / side_y, filter.planes);
  }

  template <class Args>
  void start(void (*kernel)(Args), const Args& all, cudaStream_t stream) const {
    cuda::allow_shared_memory(kernel);
    kernel<<<grid, threads, plan.shared_bytes, stream>>>(all);
    cuda::check(cudaGetLastError());
  }
};

inline FilterWork work_of(const FilterArgs& filter, bool second_phase, bool coloured) {
  return {second_phase ? Phase::second : Phase::first,
          filter.grid.count_x,
          filter.grid.count_y,
          filter.planes,
          filter.frames.over_time,
          filter.frames.present.values,
          coloured,
          !filter.has_narrow_offsets()};
}

template <bool second_phase, int M, class Transform2d, class GroupTransform>
void launch(const FilterArgs& filter, const PhaseParams& phase, const Strength& strength,
            cudaStream_t stream, const cuda::DeviceLimits& device) {
  const Launch launch(work_of(filter, second_phase, false), filter, phase, strength, device);
  const auto start = [&](void (*kernel)(KernelArgs)) { launch.start(kernel, launch.args, stream); };
  if (launch.plan.staging == Staging::direct)
    start(filter_kernel<second_phase, M, Transform2d, GroupTransform, Staging::direct>);
  else if (launch.plan.staging == Staging::shared)
    start(filter_kernel<second_phase, M, Transform2d, GroupTransform, Staging::shared>);
  else if constexpr (std::is_same_v<GroupTransform, Haar>)  // as in plan_filter()
    start(filter_kernel<second_phase, M, Transform2d, GroupTransform, Staging::sums>);
}

/// Calls `launch` with two tag types: the number of patches that the kernel transforms across the
/// group (group_slots()), and the type of this transform.
template <class Launcher>
void dispatch(const PhaseParams& phase, bool coloured, const Launcher& launch) {
  const int slots = group_slots(phase, coloured);
  const auto with = [&]<class Across>(Across across) {
    if constexpr (std::is_same_v<Across, Haar>)  // as in group_slots()
      if (slots == 8) return launch(std::integral_constant<int, 8>{}, across);
    slots == 16 ? launch(std::integral_constant<int, 16>{}, across)
                : launch(std::integral_constant<int, 32>{}, across);
  };
  phase.group_transform == GroupTransform::haar ? with(Haar{}) : with(WalshHadamard{});
}

template <bool second_phase, class Transform2d>
void dispatch_white(const FilterArgs& filter, const PhaseParams& phase, const Strength& strength,
                    cudaStream_t stream, const cuda::DeviceLimits& device) {
  dispatch(phase, false, [&]<int M, class Across>(std::integral_constant<int, M>, Across) {
    launch<second_phase, M, Transform2d, Across>(filter, phase, strength, stream, device);
  });
}

void filter_hard_dct(const FilterArgs&, const PhaseParams&, const Strength& lambda, cudaStream_t,
                     const cuda::DeviceLimits&);
void filter_hard_bior(const FilterArgs&, const PhaseParams&, const Strength& lambda, cudaStream_t,
                      const cuda::DeviceLimits&);
void filter_wiener_dct(const FilterArgs&, const PhaseParams&, const Strength& mu2, cudaStream_t,
                       const cuda::DeviceLimits&);
void filter_wiener_bior(const FilterArgs&, const PhaseParams&, const Strength& mu2, cudaStream_t,
                        const cuda::DeviceLimits&);
// ---- coloured noise ----
void coloured_hard_dct(const FilterArgs&, const CovarianceViews&, const PhaseParams&,
                       const Strength& lambda, cudaStream_t, const cuda::DeviceLimits&);
void coloured_hard_bior(const FilterArgs&, const CovarianceViews&, const PhaseParams&,
                        const Strength& lambda, cudaStream_t, const cuda::DeviceLimits&);
void coloured_wiener_dct(const FilterArgs&, const CovarianceViews&, const PhaseParams&,
                         const Strength& mu2, cudaStream_t, const cuda::DeviceLimits&);
void coloured_wiener_bior(const FilterArgs&, const CovarianceViews&, const PhaseParams&,
                          const Strength& mu2, cudaStream_t, const cuda::DeviceLimits&);

}  // namespace lull::bm3d::filter_detail
