// Which instantiation of the filter kernel fits the parameters, and what a block may use.

#include "bm3d/filter_kernel.cuh"
#include "core/error.h"

namespace lull::bm3d {

void filter_hard(const FilterArgs& args, const PhaseParams& phase, float lambda,
                 cudaStream_t stream) {
  switch (phase.transform) {
    case Transform::dct:
      return filter_detail::filter_hard_dct(args, phase, lambda, stream);
    case Transform::bior:
      return filter_detail::filter_hard_bior(args, phase, lambda, stream);
    case Transform::dft:
      break;
  }
  throw InternalError("the DFT has a filter of its own (dft_cuda.h)");
}

void filter_wiener(const FilterArgs& args, const PhaseParams& phase, float mu2,
                   cudaStream_t stream) {
  switch (phase.transform) {
    case Transform::dct:
      return filter_detail::filter_wiener_dct(args, phase, mu2, stream);
    case Transform::bior:
      return filter_detail::filter_wiener_bior(args, phase, mu2, stream);
    case Transform::dft:
      break;
  }
  throw InternalError("the DFT has a filter of its own (dft_cuda.h)");
}

std::size_t filter_detail::shared_memory_limit() {
  int device = 0, bytes = 0;
  cuda::check(cudaGetDevice(&device));
  cuda::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return static_cast<std::size_t>(bytes);
}

}  // namespace lull::bm3d
