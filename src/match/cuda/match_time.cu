// The kernels that group over frames (match_time.cuh).

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

template <int N, bool at_once, int chunk, int union_pitch, int other_chunk, int other_pitch>
__global__ void __launch_bounds__(threads, 2) match_time_kernel(const TimeArgs a) {
  extern __shared__ std::uint32_t memory[];
  __shared__ OtherFrames frames;
  match_frames<N, at_once, chunk, union_pitch, other_chunk, other_pitch>(a, memory, frames,
                                                                         NoBias{});
}

using Kernel = void (*)(TimeArgs);
struct KernelChoice {
  Kernel of_16, of_32;
};
template <std::size_t I, int N>
constexpr Kernel kernel_of =
    match_time_kernel<N, time_shapes[I].at_once, time_shapes[I].own.chunk,
                      time_shapes[I].own.union_pitch, time_shapes[I].others.chunk,
                      time_shapes[I].others.union_pitch>;
template <std::size_t... I>
constexpr std::array<KernelChoice, sizeof...(I)> kernels_of(std::index_sequence<I...>) {
  return {{{kernel_of<I, 16>, kernel_of<I, 32>}...}};
}
const auto kernels = kernels_of(std::make_index_sequence<std::size(time_shapes)>());

}  // namespace

void match_over_time(std::span<const SearchFrame> frames, const Margins& margins,
                     const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
                     const MatchParams& phase, const TimePlan& plan, const Groups& groups,
                     cudaStream_t stream) {
  const Guide& own = frames.front().frame.guide;
  TimeArgs args{arguments(own, margins, grid, batch, phase, plan.own, groups),
                plan.others,
                motion,
                phase.temporal_window,
                plan.at_a_time,
                static_cast<int>(half_distance(phase.place_bonus, own))};
  for (const auto& [offset, frame] : frames.subspan(1)) {
    args.guide[args.frames] = frame.guide;
    args.offset[args.frames] = offset;
    args.motion[args.frames++] = frame.motion;
  }
  if (phase.bias != nullptr) return match_time_biased(args, *phase.bias, plan.shared_bytes, stream);
  const std::size_t shape = shape_of(args);
  const Kernel kernel = phase.group <= 16 ? kernels[shape].of_16 : kernels[shape].of_32;
  cuda::allow_shared_memory(kernel);
  kernel<<<dim3(batch.bricks_x, batch.bricks_y), threads, plan.shared_bytes, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
