// The kernels that search several frames for similar patches (match_time.cuh).

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "match/cuda/match_time.cuh"

namespace lull {
namespace {

using namespace match_detail;

/// The kernel of match_over_time(). `fixed` is an index in fixed_time_searches, or any_search.
template <int N, bool fused, int chunk, int union_pitch, int other_chunk, int other_pitch,
          int fixed>
__global__ void __launch_bounds__(threads, 2) match_time_kernel(const TimeArgs a) {
  extern __shared__ std::uint32_t memory[];
  __shared__ OtherFrames frames;
  constexpr FixedTimeSearch search = fixed_time_search(fixed);
  match_frames<N, fused, chunk, union_pitch, other_chunk, other_pitch>(
      with_constants<search>(a.search), a.frames, memory, frames, NoBias{});
}

using TimeKernel = void (*)(TimeArgs);
struct TimeKernelChoice {
  TimeKernel of_16, of_32;
};
template <int N, bool fused, MatchShape own, MatchShape others, int fixed>
constexpr TimeKernel time_kernel_of = match_time_kernel<N, fused, own.chunk, own.union_pitch,
                                                        others.chunk, others.union_pitch, fixed>;
template <bool fused, MatchShape own, MatchShape others, int fixed>
constexpr TimeKernelChoice time_choice_of = {time_kernel_of<16, fused, own, others, fixed>,
                                             time_kernel_of<32, fused, own, others, fixed>};
template <std::size_t... I>
constexpr std::array<TimeKernelChoice, sizeof...(I)> time_kernels_of(std::index_sequence<I...>) {
  return {{time_choice_of<time_shapes[I].fused, time_shapes[I].own, time_shapes[I].others,
                          any_search>...}};
}
const auto time_kernels = time_kernels_of(std::make_index_sequence<std::size(time_shapes)>());
template <std::size_t... I>
constexpr std::array<TimeKernelChoice, sizeof...(I)> fixed_time_kernels_of(
    std::index_sequence<I...>) {
  return {{time_choice_of<true, fixed_time_searches[I].own.shape,
                          fixed_time_searches[I].others.shape, I>...}};
}
const auto fixed_time_kernels =
    fixed_time_kernels_of(std::make_index_sequence<std::size(fixed_time_searches)>());

const TimeKernelChoice& time_kernels_for(const TimeSearch& a) {
  const auto fixed = std::ranges::find_if(fixed_time_searches, [&](const FixedTimeSearch& search) {
    return search.own.window == a.own.window && search.own.step == a.own.grid.step &&
           search.others.window == a.window && search.is_of(a.own.plan, a.others);
  });
  if (fixed != std::end(fixed_time_searches))
    return fixed_time_kernels[fixed - fixed_time_searches];
  return time_kernels[shape_of(a)];
}

}  // namespace

void match_over_time(std::span<const SearchFrame> frames, const Margins& margins,
                     const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
                     const MatchParams& phase, const TimePlan& plan, const Groups& groups,
                     cudaStream_t stream) {
  const Guide& own = frames.front().frame.guide;
  TimeArgs args{{arguments(own, margins, grid, batch, phase, plan.own, groups), plan.others, motion,
                 phase.temporal_window, plan.at_a_time,
                 static_cast<int>(half_distance(phase.motion_bias, own))},
                {}};
  for (const auto& [offset, frame] : frames.subspan(1)) {
    const int k = args.search.frames++;
    args.frames.guide[k] = frame.guide;
    args.frames.offset[k] = offset;
    args.frames.motion[k] = frame.motion;
  }
  if (phase.bias != nullptr) return match_time_biased(args, *phase.bias, plan.shared_bytes, stream);
  const TimeKernelChoice& choice = time_kernels_for(args.search);
  const TimeKernel kernel = phase.group <= 16 ? choice.of_16 : choice.of_32;
  cuda::allow_shared_memory(kernel);
  kernel<<<dim3(batch.tiles_x, batch.tiles_y), threads, plan.shared_bytes, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
