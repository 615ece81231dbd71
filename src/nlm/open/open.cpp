#include "core/error.h"
#include "core/instructions.h"
#include "core/validate_format.h"
#include "cuda/session_on_device.h"
#include "nlm/cuda/workers.h"
#include "nlm/nlm.h"
#include "nlm/open/sessions.h"
#include "nlm/plans.h"
#include "noise/holes.h"
#include "time/repeat_finder.h"

namespace lull::nlm {
namespace {

std::unique_ptr<FrameWorker> make_frame_worker(const Params& params, const FrameFormat& format,
                                               const Backend& backend) {
  switch (backend.kind) {
    case BackendKind::reference:
      return make_host_frame_worker(params, format, make_reference_frame_engine, backend.results);
    case BackendKind::cpu:
      return make_host_frame_worker(
          params, format,
          [&](const FramePlan& plan) { return make_cpu_frame_engine(plan, backend.threads); },
          backend.results);
    case BackendKind::cuda:
      return make_cuda_frame_worker(params, format, backend.results_on_device, backend.results);
  }
  throw InternalError("an unknown backend (open() got an invalid BackendKind); report it");
}

std::unique_ptr<SlicesWorker> make_slices_worker(const Params& params, const FrameFormat& format,
                                                 const Backend& backend) {
  switch (backend.kind) {
    case BackendKind::reference:
      return make_host_slices_worker(params, format, make_reference_volume_engine, backend.results);
    case BackendKind::cpu:
      return make_host_slices_worker(
          params, format,
          [&](const VolumePlan& plan) { return make_cpu_volume_engine(plan, backend.threads); },
          backend.results);
    case BackendKind::cuda:
      return make_cuda_slices_worker(params, format, backend.results_on_device, backend.results);
  }
  throw InternalError("an unknown backend (open() got an invalid BackendKind); report it");
}

}  // namespace

std::unique_ptr<Denoiser> open(const Params& given, const FrameFormat& format,
                               const Backend& backend) {
  Params params = given;
  validate(params);
  lull::validate(format);
  if (params.holes) check_holes(format);
  lull::validate(backend);
  require_instructions();
  // If the session filters no plane, no frame depends on its neighbours, so the temporal radius is
  // 0.
  if (plane_sets(format, params.noise).empty()) params.temporal = 0;
  const auto open_here = [&] {
    return params.is_volume()
               ? open_slices(params, format, make_slices_worker(params, format, backend),
                             backend.results)
               : open_session(session_plan(params, format), format,
                              make_frame_worker(params, format, backend));
  };
  return backend.kind == BackendKind::cuda ? lull::cuda::open_on_device(backend.device, open_here)
                                           : open_here();
}

std::unique_ptr<RepeatFinder> open_repeat_finder(const Params& params, const FrameFormat& format) {
  validate(params);
  if (params.is_volume()) return nullptr;
  // If the session filters no plane, each result is a copy of its frame, so the session does not
  // look for repeated frames. The radius 0 disables the detection.
  return make_repeat_finder(params.noise.levels_in_samples(),
                            plane_sets(format, params.noise).empty() ? 0 : params.temporal);
}

double host_bytes(const Params& params, const FrameFormat& format, BackendKind kind) {
  const double guides = params.guided ? 2 : 1;
  if (kind == BackendKind::cuda) {
    // A GPU session for frames has only results in host memory. A GPU session for volumes has two
    // batches of slices in host memory: the noisy slices, their guides and their results.
    const int batch_size = slices_on_gpu(format.width, format.height);
    double bytes = 0;
    for (int i = 0; i < format.planes(); ++i)
      bytes += 1.0 * format.plane_width(i) * format.plane_height(i) * format.bytes_per_sample();
    return bytes * (params.is_volume() ? 2 * batch_size * (1 + guides) : margin(params).after + 10);
  }
  double samples = 0;
  for (int i = 0; i < format.planes(); ++i)
    samples += 1.0 * (format.plane_width(i) + 2 * params.reach()) *
               (format.plane_height(i) + 2 * params.reach());
  // For each frame in progress, the estimate counts the result, and the engine's copies of the
  // planes and the guide. The term 4 stands for the frame that the session loads and the frame that
  // it returns.
  const double inside =
      params.is_volume() ? 2 * params.reach_slices() + 8 : margin(params).after + 1;
  return samples * sizeof(float) * ((1 + guides) * inside + 4);
}

}  // namespace lull::nlm
