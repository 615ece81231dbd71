// Exact search for the most similar patches. For a reference patch a and a candidate b, the kernel
// computes the distance |a - b|^2 as |a|^2 + |b|^2 - 2 * a.b. The dot products a.b of 16 reference
// patches and 8 candidates are one matrix product of bytes, 16x64 by 64x8: two tensor core
// instructions.

// A thread block processes 4x4 reference patches and the union of their search windows, in bands of
// rows that fit in shared memory. Each band takes three steps.

// Step 1: the block loads the samples of the band, and |b|^2 / 2 for each patch b. Each position
// stores a word with 4 samples, for aligned loads.

// Step 2: warps fill one table of 16-bit scores for each reference patch. A score is 65535 minus a
// scaled distance, or 0 without a candidate.

// Step 3: each warp selects the N best scores of one reference patch. First, each lane finds the
// best score among its own candidates. The N-th best of these scores is a lower bound: at least N
// candidates have this score or a better one. The warp therefore skips all candidates below the
// bound.

// A key consists of a score and a position. All keys differ, so the result does not depend on the
// order of work.

// The tables have no gaps. Each row has (window + 1) / 2 words of two scores, so that step 3 reads
// consecutive words.

// Three kinds of table entries belong to no candidate, and are 0: the unused last half word of a
// row, the entry of the reference patch itself, and the padding at the end of a table.

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "match/cuda/match_tables.cuh"

namespace lull {
namespace {

using namespace match_detail;

/// The kernel of match(). `fixed` is an index in fixed_searches, because nvcc's host code cannot
/// refer to kernels with template arguments of class type.
template <int N, int chunk, int union_pitch, int fixed>
__global__ void __launch_bounds__(threads, 2) match_kernel(const MatchArgs args) {
  extern __shared__ std::uint32_t memory[];
  constexpr FixedSearch search = fixed_search(fixed);
  const MatchArgs a = with_constants<search>(args);
  const SharedTables<union_pitch> shared(memory, a.plan);
  store_group(a, threadIdx.x >> 5, match_own<N, chunk, union_pitch, fixed != any_search>(a, shared),
              [&](int place) { return own_displacement(a, place); });
}

using Kernel = void (*)(MatchArgs);
struct KernelChoice {
  Kernel of_16, of_32;
};
template <MatchShape shape, int fixed>
constexpr KernelChoice choice_of = {match_kernel<16, shape.chunk, shape.union_pitch, fixed>,
                                    match_kernel<32, shape.chunk, shape.union_pitch, fixed>};
template <std::size_t... I>
constexpr std::array<KernelChoice, sizeof...(I)> kernels_of(std::index_sequence<I...>) {
  return {{choice_of<match_shapes[I], any_search>...}};
}
const auto kernels = kernels_of(std::make_index_sequence<std::size(match_shapes)>());
template <std::size_t... I>
constexpr std::array<KernelChoice, sizeof...(I)> fixed_kernels_of(std::index_sequence<I...>) {
  return {{choice_of<fixed_searches[I].shape, I>...}};
}
const auto fixed_kernels = fixed_kernels_of(std::make_index_sequence<std::size(fixed_searches)>());

const KernelChoice& kernels_for(const MatchArgs& args) {
  const auto fixed = std::ranges::find_if(fixed_searches, [&](const FixedSearch& search) {
    return search.window == args.window && search.step == args.grid.step &&
           search.plan() == args.plan;
  });
  if (fixed != std::end(fixed_searches)) return fixed_kernels[fixed - fixed_searches];
  const MatchShape shape{args.plan.chunk, args.plan.union_pitch};
  return kernels[std::ranges::find(match_shapes, shape) - match_shapes];
}

}  // namespace

double match_detail::half_distance(double mean, const Guide& guide) {
  return 0.5 * patch * patch * mean * guide.scale * guide.scale;
}

MatchArgs match_detail::arguments(const Guide& guide, const Margins& margins,
                                  const ReferenceGrid& grid, const Batch& batch,
                                  const MatchParams& phase, const MatchPlan& plan,
                                  const Groups& groups) {
  const double limit = half_distance(phase.tau, guide);
  if (limit > max_half_distance)
    throw InternalError(
        "distances up to tau do not fit (the scale of the guide is too large); reduce it");
  return {guide,        margins,
          grid,         batch,
          groups,       plan,
          phase.window, phase.window / 2,
          phase.group,  65535 - static_cast<int>(limit)};
}

void match(const Guide& guide, const Margins& margins, const ReferenceGrid& grid,
           const Batch& batch, const MatchParams& phase, const MatchPlan& plan,
           const Groups& groups, cudaStream_t stream) {
  const MatchArgs args = arguments(guide, margins, grid, batch, phase, plan, groups);
  if (phase.bias != nullptr) return match_biased(args, *phase.bias, stream);
  const KernelChoice& choice = kernels_for(args);
  const Kernel kernel = phase.group <= 16 ? choice.of_16 : choice.of_32;
  cuda::allow_shared_memory(kernel);
  const dim3 grid_size(batch.tiles_x, batch.tiles_y);
  kernel<<<grid_size, threads, plan.shared_bytes, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
