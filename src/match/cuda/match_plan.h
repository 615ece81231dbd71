#pragma once
// How the match kernels cut their work to the shared memory of a device (match.cu, match_time.cu):
// which kernels there are, and which one a device gets. Nothing here needs a device.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/round_up.h"
#include "cuda/device_limits.h"
#include "match/match_params.h"
#include "match/patch_shape.h"

namespace lull {

namespace match_detail {

constexpr int references = 16;  // of a thread block; a warp each
constexpr int threads = references * 32;
constexpr int pending_slots = 64;  // of keys: 31 left over and a ballot
constexpr int listed_quads = 128;  // of words with hits, at most, in bytes
constexpr int gathered_words = pending_slots + listed_quads / 4;  // of a warp that selects
constexpr int reference_pitch = 20;  // words of a patch, its base, and a shift of the banks
constexpr int unit_rows = 8;         // rows of candidates that a warp scores at a time

// Places for a row of the union of windows, of which there are kernels.
constexpr int small_union = 32, medium_union = 48, narrow_union = 64;
constexpr int wide_union = 160;  // 127 + 3 * 8, rounded up to 8, fits

/// What is fixed in a kernel: the words that a lane scans at a time, and the places of a row.
struct MatchShape {
  int chunk, union_pitch;
  bool operator==(const MatchShape&) const = default;
};
inline constexpr MatchShape match_shapes[] = {{6, narrow_union},
                                              {11, narrow_union},
                                              {16, narrow_union},
                                              {20, narrow_union},
                                              {25, narrow_union},
                                              {6, wide_union},
                                              {25, wide_union},
                                              // Where memory is scarce:
                                              {5, medium_union},
                                              {11, medium_union},
                                              {4, wide_union}};

/// Over time: of the own frame, of the others.
struct TimeShape {
  bool at_once;  // the own frame's tables stand beside those of the others
  MatchShape own, others;
  int most_words;      // of an own window: what is scanned in few chunks
  bool saves = false;  // for where memory is scarce
};
constexpr int any_words = 127 * 64;
inline constexpr TimeShape time_shapes[] = {  // for ever greater windows
    {true, {4, small_union}, {6, small_union}, 4 * 32},
    {false, {11, narrow_union}, {6, small_union}, 11 * 32},
    {false, {11, narrow_union}, {6, medium_union}, any_words, true},
    {false, {4, wide_union}, {6, medium_union}, any_words, true},
    {false, {25, narrow_union}, {16, narrow_union}, 25 * 32},
    {false, {25, wide_union}, {16, wide_union}, any_words}};

/// What stands before the samples.
constexpr int head_words = references * (reference_pitch + gathered_words);
/// Bytes of that, with samples and norms of so many frames.
constexpr std::size_t table_bytes(int union_pitch, int band_rows, int score_pitch, int frames = 1) {
  const int frame = (band_rows + patch - 1) * (union_pitch + 12) + band_rows * union_pitch;
  return sizeof(std::uint32_t) *
         (static_cast<std::size_t>(frames) * frame + references * score_pitch + head_words);
}

}  // namespace match_detail

struct MatchPlan {
  int union_width = 0;   // of the windows of a block's references, rounded up to 8
  int union_height = 0;  // rounded up to 8
  int union_pitch = 0;   // places for a row of it
  int band_rows = 0;     // rows of candidates whose scores exist at a time, multiple of 8
  int score_row = 0;     // words of scores for one row of a window
  int score_pitch = 0;   // words between the tables of two reference patches
  int chunk = 0;         // words that a lane scans at a time
  // Factors that divide: by the number of units of 8 columns, by score_row, by the window.
  std::uint32_t columns_inverse = 0, row_inverse = 0, window_inverse = 0;
  std::size_t shared_bytes = 0;

  bool operator==(const MatchPlan&) const = default;
};

namespace match_detail {

/// Rows of the lowest reference patches' windows above which there are others'.
constexpr int rows_above(const MatchParams& phase) { return 3 * phase.step; }

constexpr int union_side(const MatchParams& phase) {
  return round_up(phase.window + rows_above(phase), unit_rows);
}

/// Words that are scanned for a band where no reference patch's window begins below it.
constexpr int scanned_words(const MatchParams& phase, int rows, int chunk) {
  return round_up(std::min(rows, phase.window) * ((phase.window + 1) / 2), 32 * chunk);
}

constexpr std::uint32_t inverse(int divisor, int bits) {
  return static_cast<std::uint32_t>(((1u << bits) + divisor - 1) / divisor);
}

/// In bands of so many rows.
constexpr MatchPlan plan_of(const MatchParams& phase, const MatchShape& shape, int rows) {
  MatchPlan plan;
  plan.union_width = plan.union_height = union_side(phase);
  plan.union_pitch = shape.union_pitch;
  plan.band_rows = rows;
  plan.score_row = (phase.window + 1) / 2;
  plan.chunk = shape.chunk;
  plan.columns_inverse = inverse(plan.union_width / 8, 16);
  plan.row_inverse = inverse(plan.score_row, 20);
  plan.window_inverse = inverse(phase.window, 24);
  int end = rows * plan.score_row;  // of a table: scans may go beyond it
  for (int from = 0; from < std::min(rows_above(phase) + 1, rows); ++from)
    end = std::max(end, from * plan.score_row + scanned_words(phase, rows - from, shape.chunk));
  plan.score_pitch = end + 36;  // table_of moves a table by up to 31
  plan.shared_bytes = table_bytes(plan.union_pitch, rows, plan.score_pitch);
  return plan;
}

/// A window and a step that profiles have, and the shape of their plan where all rows are one band:
/// of these there are kernels with all of it as constants.
struct FixedSearch {
  int window = 0, step = 0;  // 0: any
  MatchShape shape{};

  constexpr MatchPlan plan() const {
    const MatchParams phase{.window = window, .step = step};
    return plan_of(phase, shape, union_side(phase));
  }
};
/// Over time, where the own frame is searched with the others (TimeShape::at_once).
struct FixedTimeSearch {
  FixedSearch own, others;

  /// Whether it is what a plan does; how many frames it searches at a time is no constant.
  constexpr bool is_of(const MatchPlan& own_plan, const MatchPlan& other_plan) const {
    MatchPlan plan = others.plan();
    plan.score_pitch = other_plan.score_pitch, plan.shared_bytes = other_plan.shared_bytes;
    return own.plan() == own_plan && plan == other_plan;
  }
};
inline constexpr FixedSearch fixed_searches[] = {{19, 8, {6, narrow_union}},
                                                 {25, 5, {11, narrow_union}},
                                                 {39, 2, {25, narrow_union}},
                                                 {39, 3, {25, narrow_union}}};
inline constexpr FixedTimeSearch fixed_time_searches[] = {
    {{15, 4, {4, small_union}}, {9, 4, {6, small_union}}},
    {{15, 5, {4, small_union}}, {9, 5, {6, small_union}}}};

/// No kernel's constants.
inline constexpr int any_search = -1;
constexpr FixedSearch fixed_search(int which) {
  return which == any_search ? FixedSearch{} : fixed_searches[which];
}
constexpr FixedTimeSearch fixed_time_search(int which) {
  return which == any_search ? FixedTimeSearch{} : fixed_time_searches[which];
}

}  // namespace match_detail

/// Fixed per session.
/// @throws InvalidArgument where the device has too little shared memory for the window
[[nodiscard]] MatchPlan plan_match(const MatchParams& phase, const cuda::DeviceLimits& device);

/// How the search of several frames cuts its work: first the reference patches' own, then the
/// others, as many at a time as there is room for their scores.
struct TimePlan {
  MatchPlan own, others;
  int at_a_time = 1;
  std::size_t shared_bytes = 0;

  bool operator==(const TimePlan&) const = default;
};

/// `frames`: that are searched beside the own one, at most.
/// @throws InvalidArgument where the device has too little shared memory for the windows
[[nodiscard]] TimePlan plan_match_over_time(const MatchParams& phase, int frames,
                                            const cuda::DeviceLimits& device);

}  // namespace lull
