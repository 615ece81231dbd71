// Groups from those of others, with and without near windows in the own frame (propagate.cuh).

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "match/cuda/propagate.cuh"

namespace lull {
namespace {

using namespace match_detail;

__global__ void __launch_bounds__(threads) lists_kernel(const MatchArgs own, const ListedArgs listed) {
  __shared__ alignas(16) std::uint32_t patches[references * reference_pitch];
  const int reference = threadIdx.x >> 5;
  const ReferencePlace at(own, reference);
  load_reference(own, at.x, at.y, reference, threadIdx.x & 31, patches);
  __syncwarp();
  add_listed(own, listed, reference, patches, list_of_itself(own), [](int) { return 0u; });
}

template <int N, int chunk, int union_pitch>
__global__ void __launch_bounds__(threads, 2)
    near_kernel(const MatchArgs own, const ListedArgs listed) {
  extern __shared__ std::uint32_t memory[];
  const SharedTables<union_pitch> shared(memory, own.plan);
  const BestList best = match_own<N, chunk>(own, shared);
  add_listed(own, listed, threadIdx.x >> 5, shared.patches, best,
             [&](int place) { return own_displacement(own, place); });
}

using Kernel = void (*)(MatchArgs, ListedArgs);
struct KernelChoice {
  Kernel of_16, of_32;
};
template <std::size_t... I>
constexpr std::array<KernelChoice, sizeof...(I)> kernels_of(std::index_sequence<I...>) {
  return {{{near_kernel<16, match_shapes[I].chunk, match_shapes[I].union_pitch>,
            near_kernel<32, match_shapes[I].chunk, match_shapes[I].union_pitch>}...}};
}
const auto kernels = kernels_of(std::make_index_sequence<std::size(match_shapes)>());

/// The search of what is near.
MatchParams near_of(const MatchParams& phase) {
  MatchParams near = phase;
  near.window = phase.near_window;
  near.temporal_window = phase.near_temporal_window;
  return near;
}

}  // namespace

PropagationPlan plan_propagation(const MatchParams& phase, int others,
                                 const cuda::DeviceLimits& device) {
  PropagationPlan plan;
  if (others > 0 && phase.near_temporal_window > 0)
    plan.time = plan_match_over_time(near_of(phase), others, device);
  if (phase.near_window > 1)  // where there are no others, too
    plan.own = plan_match(near_of(phase), device);
  return plan;
}

ListedArgs match_detail::listed_arguments(std::span<const SearchFrame> frames,
                                          const MotionGrid& motion, const MatchParams& phase,
                                          const KeptGroupsView& kept) {
  ListedArgs args{};
  args.motion_grid = motion;
  args.kept = kept;
  args.radius = phase.window / 2;
  args.temporal_radius = phase.temporal_window / 2;
  args.near_radius = phase.near_window / 2;
  args.near_temporal_radius = phase.near_temporal_window > 0 ? phase.near_temporal_window / 2 : -1;
  args.bonus = static_cast<int>(half_distance(phase.place_bonus, frames.front().frame.guide));
  const int others = static_cast<int>(frames.size()) - 1;
  args.first_place = phase.near_window * phase.near_window +
                     others * phase.near_temporal_window * phase.near_temporal_window;
  for (const auto& [offset, frame] : frames) {
    args.samples[offset + max_temporal] = frame.guide.samples;
    args.half_norms[offset + max_temporal] = frame.guide.half_norms;
    args.motion[offset + max_temporal] = frame.motion;
  }
  return args;
}

void propagate(std::span<const SearchFrame> frames, const Margins& margins,
               const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
               const MatchParams& phase, const PropagationPlan& plan, const KeptGroupsView& kept,
               const Groups& groups, cudaStream_t stream) {
  const MatchParams near = near_of(phase);
  const ListedArgs listed = listed_arguments(frames, motion, phase, kept);
  if (frames.size() > 1 && phase.near_temporal_window > 0)
    return propagate_over_time(
        time_arguments(frames, margins, grid, motion, batch, near, plan.time, groups), listed,
        plan.time.shared_bytes, stream);
  const MatchArgs args =
      arguments(frames.front().frame.guide, margins, grid, batch, near, plan.own, groups);
  const dim3 blocks(batch.bricks_x, batch.bricks_y);
  if (phase.near_window == 1) {
    lists_kernel<<<blocks, threads, 0, stream>>>(args, listed);
  } else {
    const MatchShape planned{plan.own.chunk, plan.own.union_pitch};
    const auto shape = std::ranges::find(match_shapes, planned) - match_shapes;
    const Kernel kernel = phase.group <= 16 ? kernels[shape].of_16 : kernels[shape].of_32;
    cuda::allow_shared_memory(kernel);
    kernel<<<blocks, threads, plan.own.shared_bytes, stream>>>(args, listed);
  }
  cuda::check(cudaGetLastError());
}

}  // namespace lull
