// Grouping over frames: match.cu in the reference patches' own frame, and then in each other frame
// around the place that motion predicts. The block of reference patches has one vector for each
// frame, so that its candidates are a union of windows there too. The tables of several frames
// stand one after the other, rows of the windows alone, and are scanned as one: selection costs
// more than scores do.

#include <algorithm>
#include <iterator>
#include <span>

#include "bm3d/match_tables.cuh"
#include "core/error.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"

namespace lull::bm3d {
namespace {

using namespace match_detail;

constexpr int other_chunk = 16;  // words that a lane scans at a time
constexpr int max_others = 2 * max_temporal;

struct TimeArgs {
  MatchArgs own;
  MatchPlan others;
  MotionGrid grid;  // of the own frame's references
  int window, at_a_time;
  int bonus;  // of the score where motion predicts the reference patch
  int frames = 0;
  Guide guide[max_others] = {};
  int offset[max_others] = {};
  const Motion* motion[max_others] = {};

  /// Of the block's reference patches.
  __device__ Motion motion_to(int frame) const {
    if (motion[frame] == nullptr) return {};
    const int i = (own.batch.x0 + blockIdx.x) * block_side;
    const int j = (own.batch.y0 + blockIdx.y) * block_side;
    return grid.vector(motion[frame], i, j);
  }
  /// Own candidates come first in the order of places, then those of the other frames.
  __device__ std::uint32_t displacement_of(int place) const {
    const int own_places = own.window * own.window, places = window * window;
    if (place < own_places) return displacement_in(place, own.window, 0, {});
    const int frame = (place - own_places) / places;
    return displacement_in(place - own_places - frame * places, window, offset[frame],
                           motion_to(frame));
  }
  static __device__ std::uint32_t displacement_in(int place, int window, int offset, Motion v) {
    const int y = place / window, x = place - y * window;
    return pack_displacement(x - window / 2 + v.x, y - window / 2 + v.y, offset);
  }
};

/// Steps 1 to 3 in other frames, `count` from `first` on.
template <int N, int union_pitch>
__device__ void match_others(const TimeArgs& a, int first, int count,
                             const SharedTables<union_pitch>& shared, BestList& best) {
  const MatchArgs& own = a.own;
  const MatchPlan& plan = a.others;
  const int lane = threadIdx.x & 31, reference = threadIdx.x >> 5, radius = a.window / 2;
  const int i = (own.batch.x0 + blockIdx.x) * block_side;
  const int j = (own.batch.y0 + blockIdx.y) * block_side;
  const int first_x = own.grid.x(i), first_y = own.grid.y(j);
  for (int k = 0; k < count; ++k) {
    const Motion v = a.motion_to(first + k);
    const int start = own.margins.at(first_x + v.x - radius, first_y + v.y - radius);
    __syncthreads();
    load_band(a.guide[first + k], plan, own.margins.pitch, start, plan.union_height, shared);
    __syncthreads();
    score_band<union_pitch, Rows::of_window>(own, plan, a.window, start & 3, plan.union_height,
                                             k * a.window * plan.score_row, shared);
  }
  __syncthreads();
  const int dx = own.grid.x(i + reference % block_side) - first_x;
  const int dy = own.grid.y(j + reference / block_side) - first_y;
  const Scan scan{count * a.window,
                  dx & 1,
                  own.window * own.window + first * a.window * a.window,
                  a.window,
                  plan.score_row,
                  plan.row_inverse,
                  shared.scores + table_of(plan, reference, dx & ~1, dy)};
  if (lane < count) {
    std::uint16_t& score = *scan.score(lane * a.window + radius, radius);
    if (score != 0) score = static_cast<std::uint16_t>(min(score + a.bonus, 65535));
  }
  clear_gaps<other_chunk>(scan, lane);
  select<N, other_chunk>(scan, own.keep, own.min_score, shared.pending + reference * pending_slots,
                         best);
}

template <int N, int chunk, int union_pitch>
__global__ void __launch_bounds__(threads, 2) match_time_kernel(const TimeArgs a) {
  extern __shared__ std::uint32_t memory[];
  BestList best = match_own<N, chunk>(a.own, SharedTables<union_pitch>(memory, a.own.plan));
  const SharedTables<union_pitch> shared(memory, a.others);
  for (int first = 0; first < a.frames; first += a.at_a_time)
    match_others<N>(a, first, min(a.at_a_time, a.frames - first), shared, best);
  store_group(a.own, threadIdx.x >> 5, best, [&](int place) { return a.displacement_of(place); });
}

using Kernel = void (*)(TimeArgs);
struct KernelChoice {
  int chunk, union_pitch;
  Kernel of_16, of_32;
};
template <int chunk, int union_pitch>
constexpr KernelChoice choice{chunk, union_pitch, match_time_kernel<16, chunk, union_pitch>,
                              match_time_kernel<32, chunk, union_pitch>};
const KernelChoice choices[] = {choice<11, narrow_union>, choice<25, narrow_union>,
                                choice<25, wide_union>};
constexpr int narrow_chunks[] = {11, 25}, wide_chunks[] = {25};

}  // namespace

TimePlan::TimePlan(const PhaseParams& phase, int frames, std::size_t shared_limit) {
  PhaseParams other = phase;
  other.window = phase.temporal_window;
  const bool narrow = fits_narrow(phase) && fits_narrow(other);
  const std::span<const int> chunks = narrow ? std::span<const int>(narrow_chunks) : wide_chunks;
  const int pitch = narrow ? narrow_union : wide_union;
  own.fit(phase, shared_limit, chunks, pitch);
  others.fit(other, shared_limit, chunks, pitch);
  others.band_rows = others.union_height;
  const auto bytes = [&](int count) {
    const int words = count * other.window * others.score_row;
    others.score_pitch = round_up(words, 32 * other_chunk) + 36;
    return table_bytes(pitch, others.band_rows, others.score_pitch);
  };
  at_a_time = std::max(1, frames);
  while (at_a_time > 1 && bytes(at_a_time) > shared_limit) --at_a_time;
  others.shared_bytes = bytes(at_a_time);
  shared_bytes = std::max(own.shared_bytes, others.shared_bytes);
}

void match_over_time(std::span<const SearchFrame> frames, const Margins& margins,
                     const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
                     const PhaseParams& phase, const TimePlan& plan, const Groups& groups,
                     cudaStream_t stream) {
  const Guide& own = frames.front().guide;
  TimeArgs args{arguments(own, margins, grid, batch, phase, plan.own, groups),
                plan.others,
                motion,
                phase.temporal_window,
                plan.at_a_time,
                static_cast<int>(half_distance(phase.place_bonus, own))};
  for (const SearchFrame& frame : frames.subspan(1)) {
    args.guide[args.frames] = frame.guide;
    args.offset[args.frames] = frame.offset;
    args.motion[args.frames++] = frame.motion;
  }
  const KernelChoice& choice =
      *std::find_if(std::begin(choices), std::end(choices), [&](const KernelChoice& c) {
        return c.chunk == plan.own.chunk && c.union_pitch == plan.own.union_pitch;
      });
  const Kernel kernel = phase.group <= 16 ? choice.of_16 : choice.of_32;
  cuda::allow_shared_memory(kernel);
  kernel<<<dim3(batch.blocks_x, batch.blocks_y), threads, plan.shared_bytes, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
