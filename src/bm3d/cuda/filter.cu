// Which instantiation of the filter kernel fits the parameters.

#include "bm3d/cuda/filter_kernel.cuh"
#include "core/error.h"

namespace lull::bm3d {

void filter_hard(const FilterArgs& args, const PhaseParams& phase, const Strength& lambda,
                 cudaStream_t stream, const cuda::DeviceLimits& device) {
  switch (phase.transform) {
    case Transform::dct:
      return filter_detail::filter_hard_dct(args, phase, lambda, stream, device);
    case Transform::bior:
      return filter_detail::filter_hard_bior(args, phase, lambda, stream, device);
    case Transform::dft:
      break;
  }
  throw InternalError("the DFT has a filter of its own (dft_cuda.h)");
}

void filter_wiener(const FilterArgs& args, const PhaseParams& phase, const Strength& mu2,
                   cudaStream_t stream, const cuda::DeviceLimits& device) {
  switch (phase.transform) {
    case Transform::dct:
      return filter_detail::filter_wiener_dct(args, phase, mu2, stream, device);
    case Transform::bior:
      return filter_detail::filter_wiener_bior(args, phase, mu2, stream, device);
    case Transform::dft:
      break;
  }
  throw InternalError("the DFT has a filter of its own (dft_cuda.h)");
}

}  // namespace lull::bm3d
