// Each instantiation of the filter kernel has its own file, so that builds compile the
// instantiations in parallel.

#include "bm3d/cuda/filter/coloured_kernel.cuh"

namespace lull::bm3d::filter_detail {

void coloured_wiener_bior(const FilterArgs& args, const CovarianceViews& covariances,
                          const PhaseParams& phase, const Strength& mu2, cudaStream_t stream,
                          const cuda::DeviceLimits& device) {
  dispatch_coloured<true, Bior>(args, covariances, phase, mu2, stream, device);
}

}  // namespace lull::bm3d::filter_detail
