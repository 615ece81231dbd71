#include "bm4d/cuda/extent.h"

namespace lull::bm4d {

Extent::Extent(const Params& p, const FrameFormat& format) {
  // Small slices contain few reference cubes. Kernels then process more z positions at once, to
  // occupy all multiprocessors.
  const double cubes = 1.0 * format.width * format.height / (p.hard.step * p.hard.step);
  layers = cubes < 10000 ? max_layers : cubes < 20000 ? 8 : 4;
  batch = layers * p.hard.step;
  const auto own = [](const PhaseParams& q) { return 2 * q.radius() + 2 * q.cube; };
  phase[0] = own(p.hard) + batch;
  phase[1] = own(p.wiener) + layers * p.wiener.step + batch;
  // `noisy` includes the slices of the next batch, because the worker loads these slices while the
  // GPU filters the current batch.
  noisy = margin(p).after + 2 * batch + layers * p.wiener.step + 2 * max_cube;
}

}  // namespace lull::bm4d
