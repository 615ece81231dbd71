#pragma once
// Matching in several frames. The kernels search the reference frame as in match.cu, and then each
// neighbouring frame, around the position to which the motion vector points.

// The reference patches of a tile are in one bundle (8x4 reference patches) and have the same
// motion vectors. The union of their search windows is therefore a rectangle in each frame.

// Kernels select candidates from the tables of several frames together, because the selection takes
// longer than the computation of scores.

#include <algorithm>
#include <type_traits>

#include "match/cuda/match_tables.cuh"

namespace lull::match_detail {

constexpr int max_others = 2 * max_temporal;

/// The neighbouring frames in which the kernels search.
struct SearchedFrames {
  Guide guide[max_others] = {};
  int offset[max_others] = {};
  const Motion* motion[max_others] = {};
};

struct TimeSearch {
  MatchArgs own;
  MatchPlan others;
  MotionGrid grid;  // grid of the reference patches, which are in the reference frame
  int window, at_a_time;
  int motion_bias;  // added to the score of the patch at the predicted position
  int frames = 0;
};
struct TimeArgs {
  TimeSearch search;
  SearchedFrames frames;
};

/// Returns a copy of the kernel arguments `a`. If `fixed` is not empty, the copy contains the
/// plans, the windows and the step of `fixed`, as compile-time constants.
template <FixedTimeSearch fixed>
__device__ __forceinline__ TimeSearch with_constants(TimeSearch a) {
  a.own = with_constants<fixed.own>(a.own);
  if constexpr (fixed.own.window > 0) {
    constexpr MatchPlan plan = fixed.others.plan();
    // The pitch of score tables is not constant, because it depends on the number of frames
    // searched at once.
    const int pitch = a.others.score_pitch;
    a.others = plan;
    a.others.score_pitch = pitch;
    a.window = fixed.others.window;
  }
  return a;
}

/// Data of the neighbouring frames, in shared memory.
struct OtherFrames {
  int motion_x[max_others], motion_y[max_others];
  int start[max_others];  // position of the union of windows in the plane

  /// Computes the motion vector and the start position for each neighbouring frame. Each thread
  /// processes one frame.
  __device__ void find(const TimeSearch& a, const SearchedFrames& searched) {
    const int k = threadIdx.x;
    if (k >= a.frames) return;
    const int i = (a.own.batch.x0 + blockIdx.x) * reference_tile_side;
    const int j = (a.own.batch.y0 + blockIdx.y) * reference_tile_side;
    const Motion v =
        searched.motion[k] == nullptr
            ? Motion{}
            : a.grid.vector(searched.motion[k], i, j, a.own.grid.count_x, a.own.grid.count_y);
    motion_x[k] = v.x, motion_y[k] = v.y;
    start[k] = a.own.margins.at(a.own.grid.x(i) + v.x - a.window / 2,
                                a.own.grid.y(j) + v.y - a.window / 2);
  }
};

/// Converts the index of a candidate to its displacement. Candidates in the reference frame have
/// the lowest indices.
__device__ inline std::uint32_t displacement_of(const TimeSearch& a, const SearchedFrames& searched,
                                                const OtherFrames& frames, int place) {
  const int own_places = a.own.window * a.own.window, places = a.window * a.window;
  int window = a.own.window, x = 0, y = 0, offset = 0;
  if (place >= own_places) {
    place -= own_places;
    const int frame = place / places;
    place -= frame * places;
    window = a.window, offset = searched.offset[frame];
    x = frames.motion_x[frame], y = frames.motion_y[frame];
  }
  const int row = place / window;
  return pack_displacement(x + place - row * window - window / 2, y + row - window / 2, offset);
}

/// The tables of several neighbouring frames: the samples of all frames, then the norms of all
/// frames.
template <int union_pitch>
struct OtherTables {
  SharedTables<union_pitch> first;
  int sample_words, norm_words;  // number of words of one frame
  __device__ OtherTables(std::uint32_t* memory, const MatchPlan& plan, int frames)
      : first(memory, plan),
        sample_words((plan.band_rows + patch - 1) * Pitch<union_pitch>::samples),
        norm_words(plan.band_rows * Pitch<union_pitch>::norms) {
    first.norms = reinterpret_cast<std::int32_t*>(first.samples + frames * sample_words);
    first.scores = reinterpret_cast<std::uint32_t*>(first.norms + frames * norm_words);
  }
};

/// Computes the scores of `count` neighbouring frames from `first` on (step 2 of match.cu), one
/// frame in each warp.
template <int union_pitch>
__device__ void score_others(const TimeSearch& a, const OtherFrames& frames, int first, int count,
                             const OtherTables<union_pitch>& tables) {
  if (count == 0) return;
  constexpr int pitch = Pitch<union_pitch>::samples;
  const MatchPlan& plan = a.others;
  const SharedTables<union_pitch>& shared = tables.first;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int g = lane >> 2, t = lane & 3, half = t & 1, quad = 4 * (t >> 1);
  const References references(shared.patches, g, half, quad);
  const int i = (a.own.batch.x0 + blockIdx.x) * reference_tile_side;
  const int j = (a.own.batch.y0 + blockIdx.y) * reference_tile_side;
  const int left = (a.own.grid.x(i + (g & 3)) - a.own.grid.x(i)) & ~1;  // is the same for g + 8
  const int top_low = a.own.grid.y(j + (g >> 2)) - a.own.grid.y(j);
  const int top_high = a.own.grid.y(j + (g >> 2) + 2) - a.own.grid.y(j);
  // Rows above `lower_begin` belong only to search windows of the upper two rows of reference
  // patches in a tile. Rows from `upper_end` on belong only to search windows of the lower two
  // rows.
  const int lower_begin = a.own.grid.y(j + 2) - a.own.grid.y(j);
  const int upper_end = a.own.grid.y(j + 1) - a.own.grid.y(j) + a.window;
  const int k = warp % count, warps_of_frame = (warps - 1 - k) / count + 1;
  const auto scores_of = [&](int reference, int top) {
    return shared.scores + table_of(plan, reference, left, top) + t - left / 2 +
           (k * a.window - top) * plan.score_row;
  };
  std::uint32_t *const scores_low = scores_of(g, top_low), *const scores_high =
                                                               scores_of(g + 8, top_high);
  const std::uint32_t* const samples = shared.samples + k * tables.sample_words + quad * pitch +
                                       (frames.start[first + k] & 3) + g + 4 * half;
  const std::int32_t* const norms = shared.norms + k * tables.norm_words + 2 * t;
  const int columns = plan.union_width / 8, units = columns * (plan.union_height / unit_rows);

#pragma unroll 1
  for (int unit = warp / count; unit < units; unit += warps_of_frame) {
    const int unit_y = unit * plan.columns_inverse >> 16;
    const int y = unit_y * unit_rows, x = (unit - unit_y * columns) * 8;
    const bool inside =
        static_cast<unsigned>((x - left) / 2 + t) < static_cast<unsigned>(plan.score_row);
    const int from = y * plan.score_row + x / 2;
    std::uint32_t *const low = scores_low + from, *const high = scores_high + from;
    const auto is_in = [&](int row, int top) {
      return inside && static_cast<unsigned>(y + row - top) < static_cast<unsigned>(a.window);
    };
    const auto score = [&](auto of_upper, auto of_lower) {
      score_unit<union_pitch>(references, samples + y * pitch + x, norms + y * union_pitch + x,
                              [&](int row, std::uint32_t of_low, std::uint32_t of_high) {
                                if constexpr (of_upper.value)
                                  store_if(is_in(row, top_low), low + row * plan.score_row, of_low);
                                if constexpr (of_lower.value)
                                  store_if(is_in(row, top_high), high + row * plan.score_row,
                                           of_high);
                              });
    };
    constexpr std::true_type yes;
    constexpr std::false_type no;
    if (y + unit_rows <= lower_begin)
      score(yes, no);
    else if (y >= upper_end)
      score(no, yes);
    else
      score(yes, yes);
  }
}

/// Loads `count` neighbouring frames, beginning with frame `first` (step 1 of match.cu). Each team
/// of warps loads one frame.
template <int union_pitch>
__device__ void load_others(const TimeSearch& a, const SearchedFrames& searched,
                            const OtherFrames& frames, int first, int count,
                            const OtherTables<union_pitch>& tables) {
  const int team = warps / max(count, 1) * 32, k = threadIdx.x / team;
  if (k < count)
    load_band<union_pitch>(
        searched.guide[first + k], a.others, a.own.margins.pitch, frames.start[first + k],
        a.others.union_height, tables.first.samples + k * tables.sample_words,
        tables.first.norms + k * tables.norm_words, threadIdx.x - k * team, team);
}

/// Returns the scores of `count` neighbouring frames, beginning with frame `first`, for step 3 of
/// match.cu. In each frame, adds `motion_bias` to the score of the patch to which the motion vector
/// points.
template <int chunk, int union_pitch>
__device__ Scan scan_of_others(const TimeSearch& a, const ReferencePlace& at, int first, int count,
                               const OtherTables<union_pitch>& tables) {
  const int lane = threadIdx.x & 31, reference = threadIdx.x >> 5;
  const Scan scan{count * a.window,
                  at.dx & 1,
                  a.own.window * a.own.window + first * a.window * a.window,
                  a.window,
                  a.others.score_row,
                  a.others.row_inverse,
                  tables.first.scores + table_of(a.others, reference, at.dx & ~1, at.dy)};
  if (lane < count) {
    std::uint16_t& score = *scan.score(lane * a.window + a.window / 2, a.window / 2);
    if (score != 0) score = static_cast<std::uint16_t>(min(score + a.motion_bias, 65535));
  }
  clear_gaps<chunk>(scan, lane);
  return scan;
}

/// Adds the best candidates of `count` neighbouring frames to the list, beginning with frame
/// `first` (steps 1 to 3 of match.cu).
template <int N, int chunk, int union_pitch>
__device__ void match_others(const TimeSearch& a, const SearchedFrames& searched,
                             const OtherFrames& frames, int first, int count,
                             const OtherTables<union_pitch>& tables, BestList& best) {
  const int reference = threadIdx.x >> 5;
  __syncthreads();
  load_others(a, searched, frames, first, count, tables);
  __syncthreads();
  score_others(a, frames, first, count, tables);
  __syncthreads();
  const ReferencePlace at(a.own, reference);
  Gathering gathering(tables.first.gathered + reference * gathered_words);
  select<N, chunk>(scan_of_others<chunk>(a, at, first, count, tables), a.own.keep, a.own.min_score,
                   gathering, best);
}

/// The scores of the reference frame (`own`) and of the neighbouring frames (`others`), as one list
/// of words.
template <int own_chunk>
struct WordsOfBoth {
  ScanWords own, others;

  __device__ std::uint32_t at(int lane, int k) const {
    return k < own_chunk ? own.at(lane, k) : others.at(lane, k - own_chunk);
  }
  __device__ std::uint32_t place(int lane, int k) const {
    return k < own_chunk ? own.place(lane, k) : others.place(lane, k - own_chunk);
  }
};

/// Finds the best candidates in the reference frame and `count` neighbouring frames. The window in
/// the reference frame must fit in `own_chunk` words per lane and in one table.
template <int N, int own_chunk, int chunk, int own_pitch, int union_pitch, class Bias>
__device__ BestList match_fused(const TimeSearch& a, const SearchedFrames& searched,
                                const OtherFrames& frames, int count,
                                const SharedTables<own_pitch>& own_tables,
                                const OtherTables<union_pitch>& tables, const Bias& bias) {
  const MatchArgs& own = a.own;
  const int lane = threadIdx.x & 31, reference = threadIdx.x >> 5;
  const ReferencePlace at(own, reference);
  const int rows = own.plan.union_height;
  __syncthreads();  // waits until `frames` are computed
  load_reference(own, at.x, at.y, reference, lane, own_tables.patches);
  load_band<own_pitch>(own.guide, own.plan, own.margins.pitch, at.start, rows, own_tables.samples,
                       own_tables.norms, threadIdx.x, threads);
  load_others(a, searched, frames, 0, count, tables);
  __syncthreads();
  score_band(own, at.start & 3, rows, own_tables);
  score_others(a, frames, 0, count, tables);
  __syncthreads();
  const Scan own_scan =
      scan_of_own<own_chunk>(own, at, 0, at.dy, at.dy + own.window, own_tables, bias);
  const Scan others = scan_of_others<chunk>(a, at, 0, count, tables);
  const WordsOfBoth<own_chunk> words{{own_scan, 0}, {others, 0}};
  Gathering gathering(own_tables.gathered + reference * gathered_words);
  BestList best = list_of_itself(own);
  select_chunk<N, own_chunk + chunk>(words, own.keep, own.min_score, gathering, best);
  select<N, chunk>(others, own.keep, own.min_score, gathering, best, 32 * chunk);
  return best;
}

/// Finds and stores the groups of one tile of reference patches. If `fused` is true, the tables of
/// the reference frame precede the tables of the neighbouring frames in shared memory.
template <int N, bool fused, int chunk, int union_pitch, int other_chunk, int other_pitch,
          class Bias>
__device__ __forceinline__ void match_frames(const TimeSearch& a, const SearchedFrames& searched,
                                             std::uint32_t* memory, OtherFrames& frames,
                                             const Bias& bias) {
  frames.find(a, searched);
  const SharedTables<union_pitch> own_tables(memory, a.own.plan);
  OtherTables<other_pitch> tables(memory + (fused ? table_words(a.own.plan) : 0), a.others,
                                  a.at_a_time);
  tables.first.patches = own_tables.patches;
  tables.first.gathered = own_tables.gathered;
  BestList best;
  int first = 0;
  if constexpr (fused) {
    first = min(a.at_a_time, a.frames);
    best = match_fused<N, chunk, other_chunk>(a, searched, frames, first, own_tables, tables, bias);
  } else {
    best = match_own<N, chunk, union_pitch, false>(a.own, own_tables, bias);
  }
  for (; first < a.frames; first += a.at_a_time)
    match_others<N, other_chunk>(a, searched, frames, first, min(a.at_a_time, a.frames - first),
                                 tables, best);
  store_group(a.own, threadIdx.x >> 5, best,
              [&](int place) { return displacement_of(a, searched, frames, place); });
}

/// Returns the index of the plan's shape in the array time_shapes.
inline std::size_t shape_of(const TimeSearch& a) {
  const auto is_planned = [&](const TimeShape& s) {
    return s.own == MatchShape{a.own.plan.chunk, a.own.plan.union_pitch} &&
           s.others == MatchShape{a.others.chunk, a.others.union_pitch};
  };
  return std::ranges::find_if(time_shapes, is_planned) - time_shapes;
}

/// Launches the kernels of match_over_time() with a distance bias (match_time_biased.cu).
void match_time_biased(const TimeArgs& args, const DistanceBias& bias, std::size_t shared_bytes,
                       cudaStream_t stream);

}  // namespace lull::match_detail
