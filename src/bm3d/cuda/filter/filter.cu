// Selects the instantiation of the filter kernel for the parameters and the noise.

#include "bm3d/cuda/filter/filter_kernel.cuh"
#include "core/error.h"

namespace lull::bm3d {
namespace {

using namespace filter_detail;

/// The planes of one kind: all planes with white noise, or all planes with coloured noise.
struct PlanesOfKind {
  FilterArgs args;
  CovarianceViews covariances{};

  PlanesOfKind(const FilterArgs& all, const CovarianceViews& of_all, bool white) : args(all) {
    args.planes = 0;
    for (int i = 0; i < all.planes; ++i) {
      if (of_all[i].is_white() != white) continue;
      const int k = args.planes++;
      covariances[k] = of_all[i];
      args.noisy[k] = all.noisy[i];
      args.basic[k] = all.basic[i];
      args.sums[k] = all.sums[i];
      args.sigma[k] = all.sigma[i];
      args.max_level[k] = all.max_level[i];
    }
  }
};

/// The functions that launch the kernels of one phase, one for each transform.
struct Kernels {
  using White = void (*)(const FilterArgs&, const PhaseParams&, const Strength&, cudaStream_t,
                         const cuda::DeviceLimits&);
  using Coloured = void (*)(const FilterArgs&, const CovarianceViews&, const PhaseParams&,
                            const Strength&, cudaStream_t, const cuda::DeviceLimits&);
  White white_dct, white_bior;
  Coloured coloured_dct, coloured_bior;

  void run(const FilterArgs& args, const CovarianceViews& covariances, const PhaseParams& phase,
           const Strength& strength, cudaStream_t stream, const cuda::DeviceLimits& device) const {
    if (phase.transform == Transform::dft)
      throw InternalError("the DFT has a separate filter (dft_cuda.h)");
    const bool dct = phase.transform == Transform::dct;
    const PlanesOfKind white(args, covariances, true), coloured(args, covariances, false);
    if (white.args.planes > 0)
      (dct ? white_dct : white_bior)(white.args, phase, strength, stream, device);
    if (coloured.args.planes > 0)
      (dct ? coloured_dct : coloured_bior)(coloured.args, coloured.covariances, phase, strength,
                                           stream, device);
  }
};

constexpr Kernels hard{filter_hard_dct, filter_hard_bior, coloured_hard_dct, coloured_hard_bior};
constexpr Kernels of_wiener{filter_wiener_dct, filter_wiener_bior, coloured_wiener_dct,
                            coloured_wiener_bior};

}  // namespace

void filter_hard(const FilterArgs& args, const PhaseParams& phase, const Strength& lambda,
                 cudaStream_t stream, const cuda::DeviceLimits& device,
                 const CovarianceViews& covariances) {
  hard.run(args, covariances, phase, lambda, stream, device);
}

void filter_wiener(const FilterArgs& args, const PhaseParams& phase, const Strength& mu2,
                   cudaStream_t stream, const cuda::DeviceLimits& device,
                   const CovarianceViews& covariances) {
  of_wiener.run(args, covariances, phase, mu2, stream, device);
}

}  // namespace lull::bm3d
