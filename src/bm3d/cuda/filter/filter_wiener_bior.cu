// Each instantiation of the filter kernel has its own file, so that builds compile the
// instantiations in parallel.

#include "bm3d/cuda/filter/filter_kernel.cuh"

namespace lull::bm3d::filter_detail {

void filter_wiener_bior(const FilterArgs& args, const PhaseParams& phase, const Strength& mu2,
                        cudaStream_t stream, const cuda::DeviceLimits& device) {
  dispatch_white<true, Bior>(args, phase, mu2, stream, device);
}

}  // namespace lull::bm3d::filter_detail
