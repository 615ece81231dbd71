// The kernels of match.cu for coloured noise. They have a separate file, because in match.cu they
// would change the machine code that the compiler generates for the kernels for white noise.

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "match/cuda/match_bias.cuh"

namespace lull {
namespace {

using namespace match_detail;

template <int N, int chunk, int union_pitch>
__global__ void __launch_bounds__(threads, 2)
    biased_kernel(const MatchArgs a, const ScoreBias bias) {
  extern __shared__ std::uint32_t memory[];
  __shared__ std::int32_t bias_memory[bias_places];
  const SharedTables<union_pitch> shared(memory, a.plan);
  const SharedBias shared_bias(bias, bias_memory);
  store_group(a, threadIdx.x >> 5, match_own<N, chunk, union_pitch, false>(a, shared, shared_bias),
              [&](int place) { return own_displacement(a, place); });
}

using BiasedKernel = void (*)(MatchArgs, ScoreBias);
struct BiasedKernelChoice {
  BiasedKernel of_16, of_32;
};
template <std::size_t... I>
constexpr std::array<BiasedKernelChoice, sizeof...(I)> biased_kernels_of(
    std::index_sequence<I...>) {
  return {{{biased_kernel<16, match_shapes[I].chunk, match_shapes[I].union_pitch>,
            biased_kernel<32, match_shapes[I].chunk, match_shapes[I].union_pitch>}...}};
}
const auto biased_kernels = biased_kernels_of(std::make_index_sequence<std::size(match_shapes)>());

}  // namespace

void match_detail::match_biased(const MatchArgs& args, const DistanceBias& bias,
                                cudaStream_t stream) {
  const auto shape =
      std::ranges::find(match_shapes, MatchShape{args.plan.chunk, args.plan.union_pitch}) -
      match_shapes;
  const BiasedKernel kernel =
      args.keep <= 16 ? biased_kernels[shape].of_16 : biased_kernels[shape].of_32;
  cuda::allow_shared_memory(kernel);
  const dim3 grid_size(args.batch.tiles_x, args.batch.tiles_y);
  kernel<<<grid_size, threads, args.plan.shared_bytes, stream>>>(args, ScoreBias(bias, args.guide));
  cuda::check(cudaGetLastError());
}

}  // namespace lull
