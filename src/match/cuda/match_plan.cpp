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

/// Thread blocks that a multiprocessor shall hold, to hide latencies; one where it cannot be.
constexpr int wanted_blocks = 2;

/// What is chosen on devices with so much shared memory in a multiprocessor. The greater ones are
/// tuned by measurements on 90; for the others nothing is measured: they save memory for taller
/// bands, as each band costs a selection.
struct MatchTuning {
  std::size_t shared_memory;
  bool saves;  // takes kernels for less memory, and other chunks where the best does not fit
};
constexpr MatchTuning tunings[] = {{128 << 10, false},
                                   {0, true}};  // 80, 87, 90, 10x; 75, 86, 89, 12x

const MatchTuning& tuning_for(const cuda::DeviceLimits& device) {
  return *std::ranges::find_if(tunings, [&](const MatchTuning& tuning) {
    return device.shared_memory >= tuning.shared_memory;
  });
}

/// Bands as tall as fit with one of the shapes: with that which scans least beyond a band's end, or
/// if `any`, with another.
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

/// The shapes with the shortest rows that the union fits in.
std::vector<MatchShape> shapes_for(const MatchParams& phase, bool saves) {
  std::vector<MatchShape> shapes;
  for (const int pitch : {medium_union, narrow_union, wide_union}) {
    if (union_side(phase) > pitch || (pitch == medium_union && !saves)) continue;
    for (const MatchShape& shape : match_shapes)
      if (shape.union_pitch == pitch && (saves || shape.chunk > 4)) shapes.push_back(shape);
    break;
  }
  return shapes;
}

/// Candidates that a matcher can number: a key has 16 bits for the place.
constexpr int most_places = 1 << 16;

[[noreturn]] void refuse(const std::string& windows) {
  throw InvalidArgument(windows +
                        " (this GPU's shared memory does not hold that); choose a smaller one, or "
                        "the CPU");
}

}  // namespace

MatchPlan plan_match(const MatchParams& phase, const cuda::DeviceLimits& device) {
  const bool saves = tuning_for(device).saves;
  const std::vector<MatchShape> shapes = shapes_for(phase, saves);
  for (int blocks = wanted_blocks; blocks >= 1; --blocks)
    if (const auto plan = fit(phase, shapes, saves, device.dynamic_limit(blocks))) return *plan;
  refuse("window = " + std::to_string(phase.window));
}

namespace {

/// With the shape, `limit` bytes at most for the own frame and `other_limit` for others.
std::optional<TimePlan> fit_over_time(const MatchParams& phase, int frames, const TimeShape& shape,
                                      std::size_t limit, std::size_t other_limit) {
  MatchParams other = phase;
  other.window = phase.temporal_window;
  if (union_side(phase) > shape.own.union_pitch || union_side(other) > shape.others.union_pitch ||
      phase.window * ((phase.window + 1) / 2) > shape.most_words)
    return std::nullopt;
  const auto own = fit(phase, {shape.own}, false, limit);
  if (!own || (shape.at_once && own->band_rows != own->union_height)) return std::nullopt;

  TimePlan plan{*own, plan_of(other, shape.others, union_side(other)), std::max(1, frames)};
  const auto take = [&](int count) {
    const int words = count * other.window * plan.others.score_row;
    plan.at_a_time = count;
    plan.others.score_pitch = round_up(words, 32 * plan.others.chunk) + 36;
    plan.others.shared_bytes =
        table_bytes(plan.others.union_pitch, plan.others.band_rows, plan.others.score_pitch, count);
    if (shape.at_once)
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
  if (places > most_places)
    throw InvalidArgument(windows + " (with " + std::to_string(frames) +
                          " other frames these are more than the " + std::to_string(most_places) +
                          " candidates that a GPU tells apart); choose smaller ones, a smaller "
                          "--temporal, or the CPU");
  const std::size_t wanted = device.dynamic_limit(wanted_blocks), most = device.dynamic_limit(1);
  struct Try {
    std::size_t limit, other_limit;
    int frames;
  };
  // A block alone, if need be, for the others' tables, or for all.
  for (const Try& t : {Try{wanted, wanted, frames}, Try{wanted, most, 1}, Try{most, most, frames}})
    for (const TimeShape& shape : time_shapes)
      if (!shape.saves || tuning_for(device).saves)
        if (const auto plan = fit_over_time(phase, t.frames, shape, t.limit, t.other_limit))
          return *plan;
  refuse(windows);
}

}  // namespace lull
