#include "bm3d/cuda/filter/filter_plan.h"

#include <algorithm>
#include <utility>

#include "core/round_up.h"
#include "match/motion_grid.h"

namespace lull::bm3d::filter_detail {

namespace {

/// Minimum number of tiles per multiprocessor. With fewer tiles, many multiprocessors would be idle
/// at the end of the kernel.
constexpr int min_tiles_per_multiprocessor = 3;

/// A tuning for devices with at least `shared_memory` bytes per multiprocessor. Only the tuning for
/// large shared memory comes from measurements (compute capability 9.0).
struct FilterTuning {
  std::size_t shared_memory;
  // Minimum number of thread blocks per multiprocessor. The plan reduces the tile size to reach
  // this minimum.
  int wanted_blocks;
};
// tunings[0] is for compute capabilities 8.0, 8.7, 9.0 and 10.x, and tunings[1] is for 7.5, 8.6,
// 8.9 and 12.x.
constexpr FilterTuning tunings[] = {{128 << 10, 1}, {0, 2}};

/// Returns true if a kernel with Staging::sums exists. To limit the compile time, such kernels
/// exist only for the Haar transform across the group, which all profiles use.
bool has_sums_kernel(const PhaseParams& phase) {
  return phase.group_transform == GroupTransform::haar;
}

int tiles_of(const FilterWork& work, const Tile& tile) {
  const auto divide_up = [](int count, int log2) { return (count + (1 << log2) - 1) >> log2; };
  return divide_up(work.count_x, tile.log2_x) * divide_up(work.count_y, tile.log2_y);
}

/// Plans a tile of up to 8x8 reference patches. A tile is suitable if at least `blocks` thread
/// blocks with this tile fit into a multiprocessor. The result is the largest suitable tile that
/// divides the planes into enough tiles for the device, or else the smallest suitable tile.
FilterPlan plan_shared(const FilterWork& work, const PhaseParams& phase,
                       const cuda::DeviceLimits& device, int blocks) {
  // Shared memory contains the sums, the noisy samples and, in the second phase, the basic estimate
  // of one plane.
  const int arrays = work.phase == Phase::second ? 3 : 2;
  const int most = phase.group <= 16 ? max_references : max_references / 2;
  const auto span = [&](int log2) {
    return phase.window + ((1 << log2) - 1) * phase.step + patch - 1;
  };
  FilterPlan smallest;
  for (const auto& [log2_x, log2_y] : {std::pair{3, 3}, {3, 2}, {2, 3}, {2, 2}}) {
    FilterPlan plan{Staging::shared, {log2_x, log2_y, span(log2_y)}};
    const int columns = span(log2_x) + 1;  // tiles begin at even columns
    plan.tile.use_columns(columns);
    plan.shared_bytes = sizeof(std::uint32_t) * arrays * plan.tile.words();
    if (plan.tile.references() > most || columns > tile_pitch ||
        plan.shared_bytes > device.dynamic_limit() ||
        resident_blocks(plan, work.phase, group_slots(phase, work.coloured), device,
                        work.coloured) < blocks)
      continue;
    smallest = plan;
    if (tiles_of(work, plan.tile) * work.planes >=
        min_tiles_per_multiprocessor * device.multiprocessors)
      break;
  }
  return smallest;
}

/// Plans the kernel that has the sums of all frames in shared memory. A thread block of this kernel
/// processes 8x4 reference patches with the same motion vectors. If the kernel does not exist or
/// its tile does not fit, the function plans a kernel without tiles in shared memory
/// (Staging::direct).
FilterPlan plan_sums(const FilterWork& work, const PhaseParams& phase,
                     const cuda::DeviceLimits& device) {
  const int columns = (motion_columns - 1) * phase.step + patch - 1;
  const int own_rows = (motion_rows - 1) * phase.step + patch - 1;
  const int window = work.over_time ? std::max(phase.window, phase.temporal_window) : phase.window;
  const int pitch = round_up(std::max(0, window + columns - 4), 16) + 4;
  FilterPlan plan{Staging::sums, {3, 2, 0, pitch}, phase.temporal_window / 2};
  plan.tile.use_columns(window + columns);
  for (int t = 0; t < max_frames; ++t) {
    if (!(work.over_time ? work.present[t] : t == max_temporal)) continue;
    const int own_window = t == max_temporal ? phase.window : phase.temporal_window;
    plan.rows[t] = {plan.tile.rows, own_window + own_rows};
    plan.tile.rows += plan.rows[t].count;
  }
  plan.shared_bytes = sizeof(std::uint32_t) * (plan.tile.words() + plan.tile.rows);
  if (has_sums_kernel(phase) && pitch <= tile_pitch && !work.wide_offsets &&
      plan.shared_bytes <= device.dynamic_limit())
    return plan;
  plan.staging = Staging::direct;
  plan.tile.rows = 0, plan.tile.pitch = tile_pitch;
  plan.shared_bytes = 0;
  return plan;
}

}  // namespace

int resident_blocks(const FilterPlan& plan, Phase phase, int slots,
                    const cuda::DeviceLimits& device, bool coloured) {
  // In addition to the tile, the kernel declares shared memory for the aggregation window, the
  // positions of the groups, and the positions of the sums of all frames.
  std::size_t declared = sizeof(float) * patch + sizeof(std::uint32_t) * max_references;
  if (plan.staging == Staging::sums) declared += 2 * sizeof(int) * max_frames;
  return std::min(device.blocks(threads, plan.shared_bytes + declared),
                  min_blocks(phase == Phase::second, slots, coloured));
}

FilterPlan plan_filter(const FilterWork& work, const PhaseParams& phase,
                       const cuda::DeviceLimits& device) {
  // Shared memory is not useful for groups from clusters, because their patches may be far apart.
  // For coloured noise, kernels with shared memory exist only for the Haar transform.
  if (phase.clusters || (work.coloured && phase.group_transform != GroupTransform::haar))
    return {.tile = {2, 2, 0}, .other_radius = phase.temporal_window / 2};
  if (work.over_time) return plan_sums(work, phase, device);
  const FilterTuning& tuning = *std::ranges::find_if(
      tunings, [&](const FilterTuning& t) { return device.shared_memory >= t.shared_memory; });
  const FilterPlan wanted = plan_shared(work, phase, device, tuning.wanted_blocks);
  if (wanted.staging == Staging::shared || tuning.wanted_blocks == 1) return wanted;
  // With Staging::sums, the samples remain in device memory, so shared memory may have space for
  // more thread blocks per multiprocessor. More thread blocks hide the latency of reads.
  const FilterPlan sums = plan_sums(work, phase, device);
  if (sums.staging == Staging::sums &&
      resident_blocks(sums, work.phase, group_slots(phase, work.coloured), device, work.coloured) >=
          tuning.wanted_blocks)
    return sums;
  const FilterPlan any = plan_shared(work, phase, device, 1);
  return any.staging == Staging::shared || sums.staging != Staging::sums ? any : sums;
}

}  // namespace lull::bm3d::filter_detail
