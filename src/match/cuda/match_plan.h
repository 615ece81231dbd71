#pragma once
// Plans for the kernels of match.cu and match_time.cu. A plan divides the work of a thread block
// into parts whose data fit in shared memory, and selects a compiled kernel. For given parameters,
// a plan depends only on the limits of the device.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/round_up.h"
#include "cuda/device_limits.h"
#include "match/match_params.h"
#include "match/patch_shape.h"

namespace lull {

/// Side of a tile of reference patches. The patches of a tile share the loaded samples.
inline constexpr int reference_tile_side = 4;
inline constexpr int references_per_tile = reference_tile_side * reference_tile_side;
/// Returns the number of tiles along an axis with `references` reference patches.
constexpr int reference_tiles_of(int references) {
  return (references + reference_tile_side - 1) / reference_tile_side;
}

namespace match_detail {

constexpr int references = 16;  // reference patches of a thread block; one warp for each
constexpr int threads = references * 32;
constexpr int pending_slots = 64;  // keys of a warp: 31 remaining and 32 new ones
constexpr int listed_quads = 128;  // maximum number of listed quads with candidates, one byte each
/// Number of words of shared memory in which a warp gathers candidates.
constexpr int gathered_words = pending_slots + listed_quads / 4;
/// Words of shared memory for one reference patch: 16 words of samples, 1 word for the base score
/// (maximum score minus half of the squared norm), and 3 words of padding against bank conflicts.
constexpr int reference_pitch = 20;
constexpr int unit_rows = 8;  // rows of candidates that a warp scores at once

// The union of the search windows of a thread block is a rectangle. The following constants are row
// pitches of this union in memory, in patch positions. The build compiles kernels for each row
// pitch.
constexpr int small_union = 32, medium_union = 48, narrow_union = 64;
constexpr int wide_union = 160;  // at least 127 + 3 * 8, rounded up to a multiple of 8

/// Compile-time constants of a match kernel. `chunk` is the number of words of scores that a lane
/// scans at once. `union_pitch` is the row pitch, in patch positions, of the rectangle that
/// contains the search windows of a thread block.
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
                                              // The kernels with the following constants need
                                              // little shared memory.
                                              {5, medium_union},
                                              {11, medium_union},
                                              {4, wide_union}};

/// Compile-time constants of the kernels for a search in several frames. `own` contains the
/// constants for the reference frame, and `others` the constants for the neighbouring frames.
struct TimeShape {
  bool fused;  // whether the reference frame is scanned together with the first neighbouring frames
  MatchShape own, others;
  /// Maximum size of the search window in the reference frame, in words. A word contains the scores
  /// of two candidates. A warp scans 32 * own.chunk words at once, so a larger window would need
  /// too many scans.
  int max_own_words;
  bool saves_memory = false;  // is for devices with little shared memory
};
constexpr int any_words = 127 * 64;
inline constexpr TimeShape time_shapes[] = {  // ordered by window size
    {true, {4, small_union}, {6, small_union}, 4 * 32},
    {false, {11, narrow_union}, {6, small_union}, 11 * 32},
    {false, {11, narrow_union}, {6, medium_union}, any_words, true},
    {false, {4, wide_union}, {6, medium_union}, any_words, true},
    {false, {25, narrow_union}, {16, narrow_union}, 25 * 32},
    {false, {25, wide_union}, {16, wide_union}, any_words}};

/// Number of words of shared memory before the samples. The words contain the reference patches and
/// the gathered candidates.
constexpr int head_words = references * (reference_pitch + gathered_words);
/// Returns the size in bytes of the shared memory for the tables of scores, the samples and norms,
/// the reference patches, and the gathered candidates. `frames` is the number of frames whose
/// samples and norms are in shared memory.
constexpr std::size_t table_bytes(int union_pitch, int band_rows, int score_pitch, int frames = 1) {
  const int frame = (band_rows + patch - 1) * (union_pitch + 12) + band_rows * union_pitch;
  return sizeof(std::uint32_t) *
         (static_cast<std::size_t>(frames) * frame + references * score_pitch + head_words);
}

}  // namespace match_detail

struct MatchPlan {
  int union_width = 0;   // width of the union of a block's search windows, rounded up to 8
  int union_height = 0;  // height of the union of these windows
  int union_pitch = 0;   // length of a row of the union in memory, in positions
  int band_rows = 0;     // number of rows of candidates whose scores exist at once, a multiple of 8
  int score_row = 0;     // words of scores for one row of a window
  int score_pitch = 0;   // distance between the tables of two reference patches, in words
  int chunk = 0;         // words that a lane scans at once
  // Fixed-point reciprocals that replace divisions. `columns_inverse` is the reciprocal of
  // union_width / 8, `row_inverse` the reciprocal of score_row, and `window_inverse` the reciprocal
  // of the side of the window.
  std::uint32_t columns_inverse = 0, row_inverse = 0, window_inverse = 0;
  std::size_t shared_bytes = 0;

  bool operator==(const MatchPlan&) const = default;
};

namespace match_detail {

/// Returns the distance in samples between the first and the last reference patch of a tile along
/// an axis.
constexpr int rows_above(const MatchParams& phase) { return 3 * phase.step; }

constexpr int union_side(const MatchParams& phase) {
  return round_up(phase.window + rows_above(phase), unit_rows);
}

/// A word contains the scores of two candidates. Returns the maximum number of these words that a
/// warp reads for a band of `rows` rows of candidates.
constexpr int scanned_words(const MatchParams& phase, int rows, int chunk) {
  return round_up(std::min(rows, phase.window) * ((phase.window + 1) / 2), 32 * chunk);
}

constexpr std::uint32_t inverse(int divisor, int bits) {
  return static_cast<std::uint32_t>(((1u << bits) + divisor - 1) / divisor);
}

/// Returns the plan for a kernel that processes the candidates in bands. `rows` is the number of
/// rows of candidates in a band.
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
  // A table has padding at its end, because a warp may read beyond the last row.
  int end = rows * plan.score_row;
  for (int from = 0; from < std::min(rows_above(phase) + 1, rows); ++from)
    end = std::max(end, from * plan.score_row + scanned_words(phase, rows - from, shape.chunk));
  plan.score_pitch = end + 36;  // additional words, because table_of() moves a table by up to 31
  plan.shared_bytes = table_bytes(plan.union_pitch, rows, plan.score_pitch);
  return plan;
}

/// A search with a kernel for exactly the window and the step of a profile. The kernel computes the
/// scores of all rows of candidates at once, in a single band.
struct FixedSearch {
  int window = 0, step = 0;  // 0: any value
  MatchShape shape{};

  constexpr MatchPlan plan() const {
    const MatchParams phase{.window = window, .step = step};
    return plan_of(phase, shape, union_side(phase));
  }
};
/// A temporal search with a kernel for exactly the windows and the step of a profile. The kernel
/// selects candidates from all frames together (TimeShape::fused).
struct FixedTimeSearch {
  FixedSearch own, others;

  /// Returns whether the two plans equal the plans of this kernel, so that the kernel can execute
  /// them. The comparison ignores the members that depend on the number of frames searched at once,
  /// because this number may differ.
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

/// Index of the general kernels, whose plan, window and step are not compile-time constants.
inline constexpr int any_search = -1;
constexpr FixedSearch fixed_search(int which) {
  return which == any_search ? FixedSearch{} : fixed_searches[which];
}
constexpr FixedTimeSearch fixed_time_search(int which) {
  return which == any_search ? FixedTimeSearch{} : fixed_time_searches[which];
}

}  // namespace match_detail

/// Makes the plan for match(), once per session.
/// @throws InvalidArgument  the device has too little shared memory for the window
[[nodiscard]] MatchPlan plan_match(const MatchParams& phase, const cuda::DeviceLimits& device);

/// A plan for a search in several frames. The kernel first searches the reference frame. Then it
/// searches `at_a_time` neighbouring frames at once, as many as the shared memory permits.
struct TimePlan {
  MatchPlan own, others;
  int at_a_time = 1;
  std::size_t shared_bytes = 0;

  bool operator==(const TimePlan&) const = default;
};

/// Makes the plan for match_over_time(). `frames` is the maximum number of neighbouring frames.
/// @throws InvalidArgument  the device has too little shared memory for the windows
[[nodiscard]] TimePlan plan_match_over_time(const MatchParams& phase, int frames,
                                            const cuda::DeviceLimits& device);

}  // namespace lull
