#pragma once
// How the match kernels cut their work to the shared memory of a device (match.cu, match_time.cu):
// which kernels there are, and which one a device gets. Nothing here needs a device.

#include <cstddef>
#include <cstdint>

#include "cuda/device_limits.h"
#include "match/match_params.h"
#include "match/patch_shape.h"

namespace lull {

namespace match_detail {

constexpr int references = 16;  // of a thread block; a warp each
constexpr int threads = references * 32;
constexpr int pending_slots = 96;    // 31 left over and two ballots
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
constexpr int head_words = references * (reference_pitch + pending_slots);
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
