#include "match/cuda/match_plan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/round_up.h"

namespace lull {

using namespace match_detail;

namespace {

/// Preferred number of thread blocks per multiprocessor, to hide latencies. If shared memory is too
/// small for this number, the plan uses one thread block.
constexpr int wanted_blocks = 2;

/// Options for devices with at least `shared_memory` bytes of shared memory per multiprocessor.
/// Bands with more rows are faster, because kernels select candidates once per band.

/// The options for large shared memory are based on measurements on compute capability 9.0. The
/// options for small shared memory are not based on measurements.
struct MatchTuning {
  std::size_t shared_memory;
  // If true, a plan may use kernels that need little shared memory. The plan may also use a less
  // efficient MatchShape if the best one does not fit.
  bool saves_memory;
};
constexpr MatchTuning tunings[] = {{128 << 10, false},
                                   // GPUs with compute capability 8.0, 8.7, 9.0 or 10.x have at
                                   // least 128 KiB of shared memory per multiprocessor. GPUs with
                                   // 7.5, 8.6, 8.9 or 12.x have less.
                                   {0, true}};

const MatchTuning& tuning_for(const cuda::DeviceLimits& device) {
  return *std::ranges::find_if(tunings, [&](const MatchTuning& tuning) {
    return device.shared_memory >= tuning.shared_memory;
  });
}

/// Returns a plan that needs at most `limit` bytes of shared memory, or std::nullopt. The function
/// tries tall bands of candidate rows first. For each band height, the function tries the shape
/// with which a warp scans the fewest words. If `any` is true, the function also tries the other
/// shapes before it reduces the band height.
std::optional<MatchPlan> fit(const MatchParams& phase, std::vector<MatchShape> shapes, bool any,
                             std::size_t limit) {
  int tried = 0;
  for (int bands = 1; tried != unit_rows; ++bands) {
    const int rows = round_up((union_side(phase) + bands - 1) / bands, unit_rows);
    if (rows == tried) continue;
    tried = rows;
    std::ranges::stable_sort(shapes, {}, [&](const MatchShape& shape) {
      return scanned_words(phase, rows, shape.chunk);
    });
    for (const MatchShape& shape : shapes) {
      const MatchPlan plan = plan_of(phase, shape, rows);
      if (plan.shared_bytes <= limit) return plan;
      if (!any) break;
    }
  }
  return std::nullopt;
}

/// Returns the shapes that fit the union of the search windows. MatchShape::union_pitch must be at
/// least the width of the union. The function returns only shapes with the smallest such pitch.
std::vector<MatchShape> shapes_for(const MatchParams& phase, bool saves_memory) {
  std::vector<MatchShape> shapes;
  for (const int pitch : {medium_union, narrow_union, wide_union}) {
    if (union_side(phase) > pitch || (pitch == medium_union && !saves_memory)) continue;
    for (const MatchShape& shape : match_shapes)
      if (shape.union_pitch == pitch && (saves_memory || shape.chunk > 4)) shapes.push_back(shape);
    break;
  }
  return shapes;
}

/// Maximum number of candidates of a reference patch: a key has 16 bits for a position.
constexpr int max_positions = 1 << 16;

[[noreturn]] void refuse(const std::string& windows) {
  throw InvalidArgument(windows +
                        " (this GPU has too little shared memory for it); choose a smaller one, or "
                        "the CPU");
}

}  // namespace

MatchPlan plan_match(const MatchParams& phase, const cuda::DeviceLimits& device) {
  const bool saves_memory = tuning_for(device).saves_memory;
  const std::vector<MatchShape> shapes = shapes_for(phase, saves_memory);
  for (int blocks = wanted_blocks; blocks >= 1; --blocks)
    if (const auto plan = fit(phase, shapes, saves_memory, device.dynamic_limit(blocks)))
      return *plan;
  refuse("window = " + std::to_string(phase.window));
}

namespace {

/// Returns a plan with the given shape, or std::nullopt if the shape does not fit. The plan uses at
/// most `limit` bytes of shared memory for the reference frame, and at most `other_limit` bytes for
/// neighbouring frames.
std::optional<TimePlan> fit_over_time(const MatchParams& phase, int frames, const TimeShape& shape,
                                      std::size_t limit, std::size_t other_limit) {
  MatchParams other = phase;
  other.window = phase.temporal_window;
  if (union_side(phase) > shape.own.union_pitch || union_side(other) > shape.others.union_pitch ||
      phase.window * ((phase.window + 1) / 2) > shape.max_own_words)
    return std::nullopt;
  const auto own = fit(phase, {shape.own}, false, limit);
  if (!own || (shape.fused && own->band_rows != own->union_height)) return std::nullopt;

  TimePlan plan{*own, plan_of(other, shape.others, union_side(other)), std::max(1, frames)};
  const auto take = [&](int count) {
    const int words = count * other.window * plan.others.score_row;
    plan.at_a_time = count;
    plan.others.score_pitch = round_up(words, 32 * plan.others.chunk) + 36;
    plan.others.shared_bytes =
        table_bytes(plan.others.union_pitch, plan.others.band_rows, plan.others.score_pitch, count);
    if (shape.fused)
      plan.others.shared_bytes += plan.own.shared_bytes - sizeof(std::uint32_t) * head_words;
    return plan.others.shared_bytes;
  };
  int count = std::max(1, frames);
  while (take(count) > other_limit)
    if (--count == 0) return std::nullopt;
  plan.shared_bytes = std::max(plan.own.shared_bytes, plan.others.shared_bytes);
  return plan;
}

}  // namespace

TimePlan plan_match_over_time(const MatchParams& phase, int frames,
                              const cuda::DeviceLimits& device) {
  const std::string windows = "window = " + std::to_string(phase.window) +
                              ", temporal-window = " + std::to_string(phase.temporal_window);
  const int places =
      phase.window * phase.window + frames * phase.temporal_window * phase.temporal_window;
  if (places > max_positions)
    throw InvalidArgument(windows + " (with " + std::to_string(frames) +
                          " other frames these have more than the " +
                          std::to_string(max_positions) +
                          " candidates that a GPU supports); choose smaller ones, a smaller "
                          "--temporal, or the CPU");
  const std::size_t wanted = device.dynamic_limit(wanted_blocks), most = device.dynamic_limit(1);
  struct Try {
    std::size_t limit, other_limit;
    int frames;
  };
  // With the limit `wanted` of shared memory, several thread blocks fit on a multiprocessor; with
  // the limit `most`, only one. The function tries these limits in order:
  // 1. `wanted` for all frames
  // 2. `wanted` for the reference frame, and `most` for the neighbouring frames
  // 3. `most` for all frames
  for (const Try& t : {Try{wanted, wanted, frames}, Try{wanted, most, 1}, Try{most, most, frames}})
    for (const TimeShape& shape : time_shapes)
      if (!shape.saves_memory || tuning_for(device).saves_memory)
        if (const auto plan = fit_over_time(phase, t.frames, shape, t.limit, t.other_limit))
          return *plan;
  refuse(windows);
}

}  // namespace lull
