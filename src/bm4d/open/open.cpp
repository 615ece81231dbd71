#include "bm4d/bm4d.h"
#include "bm4d/cuda/extent.h"
#include "bm4d/cuda/worker.h"
#include "bm4d/open/host_worker.h"
#include "bm4d/open/volume_session.h"
#include "bm4d/propagation.h"
#include "core/error.h"
#include "core/instructions.h"
#include "core/validate_format.h"
#include "cuda/session_on_device.h"

namespace lull::bm4d {

std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                               const Backend& backend) {
  validate(params);
  lull::validate(format);
  lull::validate(backend);
  require_instructions();
  const auto on_host = [&](const EngineFactory& make_engine) {
    return open_volumes(params, format,
                        make_host_worker(params, format, make_engine, backend.results),
                        backend.results);
  };
  switch (backend.kind) {
    case BackendKind::reference:
      return on_host(make_reference_engine);
    case BackendKind::cpu:
      return on_host(
          [&](const VolumePlan& plan) { return make_cpu_engine(plan, backend.threads); });
    case BackendKind::cuda:
      return lull::cuda::open_on_device(backend.device, [&] {
        return open_volumes(
            params, format,
            make_cuda_worker(params, format, backend.results_on_device, backend.results),
            backend.results, SliceMemory::host_or_gpu);
      });
  }
  throw InternalError("an unknown backend (open() was given no value of BackendKind); report it");
}

double host_bytes(const Params& params, const FrameFormat& format, BackendKind kind) {
  double bytes = 0;
  if (kind == BackendKind::cuda) {
    // In host memory, a GPU session stores only noisy slices and the results of two batches.
    const Extent extent(params, format);
    for (int i = 0; i < format.planes(); ++i)
      bytes += 1.0 * format.plane_width(i) * format.plane_height(i) * format.bytes_per_sample();
    return bytes * (extent.noisy + 2 * extent.batch);
  }
  for (int i = 0; i < format.planes(); ++i) {
    const double samples = 1.0 * format.plane_width(i) * format.plane_height(i);
    // The slices in progress. For each slice, each phase stores four float arrays: guide, weighted
    // estimates, weights and filtered samples.
    bytes += samples * format.bytes_per_sample() * (margin(params).after + 1);
    for (const PhaseParams* phase : {&params.hard, &params.wiener})
      bytes += samples * (2 * phase->reach() + 4) * 4 * sizeof(float);
    const int step = params.hard.step;
    if (params.reranks_groups())
      bytes += samples / (step * step) * KeptLayers(params, 1).depth() * sizeof(KeptList);
  }
  return bytes;
}

}  // namespace lull::bm4d
