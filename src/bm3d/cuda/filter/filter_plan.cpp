#include "bm3d/cuda/filter/filter_plan.h"

#include <algorithm>
#include <utility>

#include "core/round_up.h"
#include "match/motion_grid.h"

namespace lull::bm3d::filter_detail {

namespace {

/// Tiles for a multiprocessor at least, to keep it busy to the end.
constexpr int enough_tiles = 3;

/// What is chosen on devices with so much shared memory in a multiprocessor. The greater ones are
/// tuned by measurements on 90; for the others nothing is measured.
struct FilterTuning {
  std::size_t shared_memory;
  int wanted_blocks;  // that a multiprocessor shall hold, even if tiles get smaller for it
};
constexpr FilterTuning tunings[] = {{128 << 10, 1}, {0, 2}};  // 80, 87, 90, 10x; 75, 86, 89, 12x

/// Only for the group transform that the profiles have: kernels take long to compile.
bool has_sums_kernel(const PhaseParams& phase) {
  return phase.group_transform == GroupTransform::haar;
}

int tiles_of(const FilterWork& work, const Tile& tile) {
  const auto divide_up = [](int count, int log2) { return (count + (1 << log2) - 1) >> log2; };
  return divide_up(work.count_x, tile.log2_x) * divide_up(work.count_y, tile.log2_y);
}

/// The largest tile of at most 8x8 reference patches that fits into shared memory, so many blocks
/// at a time, whose sums stay in range, and of which there are enough to keep the device busy; else
/// the smallest.
FilterPlan plan_shared(const FilterWork& work, const PhaseParams& phase,
                       const cuda::DeviceLimits& device, int blocks) {
  const int arrays = work.phase == Phase::second ? 3 : 2;  // samples of one or two planes, sums
  const int most = phase.group <= 16 ? most_references : most_references / 2;
  const auto span = [&](int log2) {
    return phase.window + ((1 << log2) - 1) * phase.step + patch - 1;
  };
  FilterPlan smallest;
  for (const auto& [log2_x, log2_y] : {std::pair{3, 3}, {3, 2}, {2, 3}, {2, 2}}) {
    FilterPlan plan{Staging::shared, {log2_x, log2_y, span(log2_y)}};
    const int columns = span(log2_x) + 1;  // tiles begin at even places
    plan.tile.use_columns(columns);
    plan.shared_bytes = sizeof(std::uint32_t) * arrays * plan.tile.words();
    if (plan.tile.references() > most || columns > tile_pitch ||
        plan.shared_bytes > device.dynamic_limit() ||
        blocks_held(plan, work.phase, group_places(phase, work.coloured), device, work.coloured) <
            blocks)
      continue;
    smallest = plan;
    if (tiles_of(work, plan.tile) * work.planes >= enough_tiles * device.multiprocessors) break;
  }
  return smallest;
}

/// Tiles of 8x4 reference patches, which have their motion in common, for the sums of all frames.
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
  if (has_sums_kernel(phase) && pitch <= tile_pitch && plan.shared_bytes <= device.dynamic_limit())
    return plan;
  plan.staging = Staging::direct;
  plan.tile.rows = 0, plan.tile.pitch = tile_pitch;
  plan.shared_bytes = 0;
  return plan;
}

}  // namespace

int blocks_held(const FilterPlan& plan, Phase phase, int places, const cuda::DeviceLimits& device,
                bool coloured) {
  // Window, what is known of groups, places of the sums of all frames.
  std::size_t declared = sizeof(float) * patch + sizeof(std::uint32_t) * most_references;
  if (plan.staging == Staging::sums) declared += 2 * sizeof(int) * max_frames;
  return std::min(device.blocks(threads, plan.shared_bytes + declared),
                  least_blocks(phase == Phase::second, places, coloured));
}

FilterPlan plan_filter(const FilterWork& work, const PhaseParams& phase,
                       const cuda::DeviceLimits& device) {
  // Patches of a cluster lie beyond any window, and noise that is not white has kernels with shared
  // memory for Haar alone.
  if (phase.clusters || (work.coloured && phase.group_transform != GroupTransform::haar))
    return {.tile = {2, 2, 0}, .other_radius = phase.temporal_window / 2};
  if (work.over_time) return plan_sums(work, phase, device);
  const FilterTuning& tuning = *std::ranges::find_if(
      tunings, [&](const FilterTuning& t) { return device.shared_memory >= t.shared_memory; });
  const FilterPlan wanted = plan_shared(work, phase, device, tuning.wanted_blocks);
  if (wanted.staging == Staging::shared || tuning.wanted_blocks == 1) return wanted;
  // Samples from device memory, through the first cache, are slower, but several blocks hide that.
  const FilterPlan sums = plan_sums(work, phase, device);
  if (sums.staging == Staging::sums &&
      blocks_held(sums, work.phase, group_places(phase, work.coloured), device, work.coloured) >=
          tuning.wanted_blocks)
    return sums;
  const FilterPlan any = plan_shared(work, phase, device, 1);
  return any.staging == Staging::shared || sums.staging != Staging::sums ? any : sums;
}

}  // namespace lull::bm3d::filter_detail
