// The kernels of match_time.cu for coloured noise (match_bias.cuh).

#include <array>
#include <iterator>
#include <utility>

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "match/cuda/match_bias.cuh"
#include "match/cuda/match_time.cuh"

namespace lull {
namespace {

using namespace match_detail;

template <int N, bool fused, int chunk, int union_pitch, int other_chunk, int other_pitch>
__global__ void __launch_bounds__(threads, 2)
    biased_time_kernel(const TimeArgs a, const ScoreBias bias) {
  extern __shared__ std::uint32_t memory[];
  __shared__ OtherFrames frames;
  __shared__ std::int32_t bias_memory[bias_places];
  match_frames<N, fused, chunk, union_pitch, other_chunk, other_pitch>(
      a.search, a.frames, memory, frames, SharedBias(bias, bias_memory));
}

using BiasedTimeKernel = void (*)(TimeArgs, ScoreBias);
struct BiasedTimeChoice {
  BiasedTimeKernel of_16, of_32;
};
template <std::size_t I, int N>
constexpr BiasedTimeKernel biased_time_kernel_of =
    biased_time_kernel<N, time_shapes[I].fused, time_shapes[I].own.chunk,
                       time_shapes[I].own.union_pitch, time_shapes[I].others.chunk,
                       time_shapes[I].others.union_pitch>;
template <std::size_t... I>
constexpr std::array<BiasedTimeChoice, sizeof...(I)> biased_time_kernels_of(
    std::index_sequence<I...>) {
  return {{{biased_time_kernel_of<I, 16>, biased_time_kernel_of<I, 32>}...}};
}
const auto biased_time_kernels =
    biased_time_kernels_of(std::make_index_sequence<std::size(time_shapes)>());

}  // namespace

void match_detail::match_time_biased(const TimeArgs& args, const DistanceBias& bias,
                                     std::size_t shared_bytes, cudaStream_t stream) {
  const BiasedTimeChoice& choice = biased_time_kernels[shape_of(args.search)];
  const BiasedTimeKernel kernel = args.search.own.keep <= 16 ? choice.of_16 : choice.of_32;
  cuda::allow_shared_memory(kernel);
  const dim3 grid(args.search.own.batch.tiles_x, args.search.own.batch.tiles_y);
  kernel<<<grid, threads, shared_bytes, stream>>>(args, ScoreBias(bias, args.search.own.guide));
  cuda::check(cudaGetLastError());
}

}  // namespace lull
