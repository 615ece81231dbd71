// Groups from those of others, with near windows in other frames (propagate.cuh).

#include <array>
#include <iterator>
#include <utility>

#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "match/cuda/propagate.cuh"

namespace lull {
namespace {

using namespace match_detail;

template <int N, bool at_once, int chunk, int union_pitch, int other_chunk, int other_pitch>
__global__ void __launch_bounds__(threads, 2)
    near_time_kernel(const TimeArgs a, const ListedArgs listed) {
  extern __shared__ std::uint32_t memory[];
  __shared__ OtherFrames frames;
  const BestList best =
      best_of_frames<N, at_once, chunk, union_pitch, other_chunk, other_pitch>(a, memory, frames,
                                                                               NoBias{});
  // The reference patches come first in memory, however it is cut.
  add_listed(a.own, listed, threadIdx.x >> 5, memory, best,
             [&](int place) { return displacement_of(a, frames, place); });
}

using Kernel = void (*)(TimeArgs, ListedArgs);
struct KernelChoice {
  Kernel of_16, of_32;
};
template <std::size_t I, int N>
constexpr Kernel kernel_of =
    near_time_kernel<N, time_shapes[I].at_once, time_shapes[I].own.chunk,
                     time_shapes[I].own.union_pitch, time_shapes[I].others.chunk,
                     time_shapes[I].others.union_pitch>;
template <std::size_t... I>
constexpr std::array<KernelChoice, sizeof...(I)> kernels_of(std::index_sequence<I...>) {
  return {{{kernel_of<I, 16>, kernel_of<I, 32>}...}};
}
const auto kernels = kernels_of(std::make_index_sequence<std::size(time_shapes)>());

}  // namespace

void match_detail::propagate_over_time(const TimeArgs& args, const ListedArgs& listed,
                                       std::size_t shared_bytes, cudaStream_t stream) {
  const std::size_t shape = shape_of(args);
  const Kernel kernel = args.own.keep <= 16 ? kernels[shape].of_16 : kernels[shape].of_32;
  cuda::allow_shared_memory(kernel);
  const Batch& batch = args.own.batch;
  kernel<<<dim3(batch.bricks_x, batch.bricks_y), threads, shared_bytes, stream>>>(args, listed);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
