#pragma once
// Plans that divide the work of the match kernels (match.cu, match_time.cu) to fit the shared
// memory of a device: which kernels exist, and which one a device uses. Nothing here needs a
// device.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/round_up.h"
#include "cuda/device_limits.h"
#include "match/match_params.h"
#include "match/patch_shape.h"

namespace lull {

/// Kernels process reference patches in tiles of 4x4, which share the loaded samples.
inline constexpr int reference_tile_side = 4;
inline constexpr int references_per_tile = reference_tile_side * reference_tile_side;
/// Returns the number of tiles along an axis with `references` reference patches.
constexpr int reference_tiles_of(int references) {
  return (references + reference_tile_side - 1) / reference_tile_side;
}

namespace match_detail {

constexpr int references = 16;  // reference patches of a thread block; each has a warp
constexpr int threads = references * 32;
constexpr int pending_slots = 64;  // keys of a warp: 31 left over and 32 new ones
constexpr int listed_quads = 128;  // maximum number of listed quads with hits, one byte each
/// Words of shared memory in which a warp selects candidates.
constexpr int gathered_words = pending_slots + listed_quads / 4;
/// Number of words that a reference patch takes: its samples, its base score, and padding against
/// bank conflicts.
constexpr int reference_pitch = 20;
constexpr int unit_rows = 8;  // rows of candidates that a warp scores at once

// Row lengths of the union of windows (in positions) for which kernels exist.
constexpr int small_union = 32, medium_union = 48, narrow_union = 64;
constexpr int wide_union = 160;  // 127 + 3 * 8, rounded up to a multiple of 8, fits

/// Compile-time constants of a kernel: the number of words that a lane scans at once, and the row
/// length of the union.
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
                                              // The following shapes suit devices with little
                                              // shared memory.
                                              {5, medium_union},
                                              {11, medium_union},
                                              {4, wide_union}};

/// Shapes of a temporal search: for the reference frame and for neighbouring frames.
struct TimeShape {
  bool fused;  // the reference frame and the first neighbouring frames are scanned together
  MatchShape own, others;
  /// Maximum size in words of a window in the reference frame, so that few chunks are scanned.
  int max_own_words;
  bool saves_memory = false;  // suits devices with little shared memory
};
constexpr int any_words = 127 * 64;
inline constexpr TimeShape time_shapes[] = {  // ordered by window size
    {true, {4, small_union}, {6, small_union}, 4 * 32},
    {false, {11, narrow_union}, {6, small_union}, 11 * 32},
    {false, {11, narrow_union}, {6, medium_union}, any_words, true},
    {false, {4, wide_union}, {6, medium_union}, any_words, true},
    {false, {25, narrow_union}, {16, narrow_union}, 25 * 32},
    {false, {25, wide_union}, {16, wide_union}, any_words}};

/// Number of words in shared memory before the samples.
constexpr int head_words = references * (reference_pitch + gathered_words);
/// Returns the size of the tables in bytes, with samples and norms of `frames` frames.
constexpr std::size_t table_bytes(int union_pitch, int band_rows, int score_pitch, int frames = 1) {
  const int frame = (band_rows + patch - 1) * (union_pitch + 12) + band_rows * union_pitch;
  return sizeof(std::uint32_t) *
         (static_cast<std::size_t>(frames) * frame + references * score_pitch + head_words);
}

}  // namespace match_detail

struct MatchPlan {
  int union_width = 0;   // union of the windows of a block's reference patches, rounded up to 8
  int union_height = 0;  // union of these windows along y
  int union_pitch = 0;   // positions in a row of the union in memory
  int band_rows = 0;     // rows of candidates whose scores exist at once, multiple of 8
  int score_row = 0;     // words of scores for one row of a window
  int score_pitch = 0;   // words between the tables of two reference patches
  int chunk = 0;         // words that a lane scans at once
  // Fixed-point inverses for divisions by the number of units of 8 columns, by score_row, and by
  // the window side.
  std::uint32_t columns_inverse = 0, row_inverse = 0, window_inverse = 0;
  std::size_t shared_bytes = 0;

  bool operator==(const MatchPlan&) const = default;
};

namespace match_detail {

/// Returns the offset between the first and the last reference patch of a tile, along an axis.
constexpr int rows_above(const MatchParams& phase) { return 3 * phase.step; }

constexpr int union_side(const MatchParams& phase) {
  return round_up(phase.window + rows_above(phase), unit_rows);
}

/// Returns the number of words that are scanned for a band, if no window begins below the band's
/// first row.
constexpr int scanned_words(const MatchParams& phase, int rows, int chunk) {
  return round_up(std::min(rows, phase.window) * ((phase.window + 1) / 2), 32 * chunk);
}

constexpr std::uint32_t inverse(int divisor, int bits) {
  return static_cast<std::uint32_t>(((1u << bits) + divisor - 1) / divisor);
}

/// Returns the plan whose bands have `rows` rows.
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
  int end = rows * plan.score_row;  // end of a table: scans may exceed it
  for (int from = 0; from < std::min(rows_above(phase) + 1, rows); ++from)
    end = std::max(end, from * plan.score_row + scanned_words(phase, rows - from, shape.chunk));
  plan.score_pitch = end + 36;  // table_of() moves a table by up to 31
  plan.shared_bytes = table_bytes(plan.union_pitch, rows, plan.score_pitch);
  return plan;
}

/// A search with the window and the step of a profile. Its kernel has all parameters as constants.
/// `shape` is the shape of its plan, in which one band contains all rows.
struct FixedSearch {
  int window = 0, step = 0;  // 0: any
  MatchShape shape{};

  constexpr MatchPlan plan() const {
    const MatchParams phase{.window = window, .step = step};
    return plan_of(phase, shape, union_side(phase));
  }
};
/// A temporal search that scans the reference frame together with the others (TimeShape::fused).
struct FixedTimeSearch {
  FixedSearch own, others;

  /// Returns whether plans match this search. The number of frames that are searched at once may
  /// differ: it is not a constant of the kernel.
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

/// Index that selects the kernels without compile-time constants.
inline constexpr int any_search = -1;
constexpr FixedSearch fixed_search(int which) {
  return which == any_search ? FixedSearch{} : fixed_searches[which];
}
constexpr FixedTimeSearch fixed_time_search(int which) {
  return which == any_search ? FixedTimeSearch{} : fixed_time_searches[which];
}

}  // namespace match_detail

/// Plans match(). A session makes its plan once.
/// @throws InvalidArgument if the device has too little shared memory for the window
[[nodiscard]] MatchPlan plan_match(const MatchParams& phase, const cuda::DeviceLimits& device);

/// The plan of a search in several frames. Kernels first search the reference frame. Then they
/// search the neighbouring frames, as many at once as there is memory for their scores.
struct TimePlan {
  MatchPlan own, others;
  int at_a_time = 1;
  std::size_t shared_bytes = 0;

  bool operator==(const TimePlan&) const = default;
};

/// `frames` is the maximum number of neighbouring frames.
/// @throws InvalidArgument if the device has too little shared memory for the windows
[[nodiscard]] TimePlan plan_match_over_time(const MatchParams& phase, int frames,
                                            const cuda::DeviceLimits& device);

}  // namespace lull
