#include "core/error.h"
#include "core/instructions.h"
#include "core/validate_format.h"
#include "cuda/session_on_device.h"
#include "nlm/cuda/engine.h"
#include "nlm/nlm.h"
#include "nlm/open/plane_sets.h"
#include "nlm/open/sessions.h"
#include "noise/holes.h"
#include "time/repeat_finder.h"

namespace lull::nlm {
namespace {

/// The engine of a plan on a backend.
template <class Plan, class Reference, class Cpu, class Cuda>
auto make_on(const Backend& backend, const Plan& plan, Reference reference, Cpu cpu, Cuda cuda) {
  switch (backend.kind) {
    case BackendKind::reference:
      return reference(plan);
    case BackendKind::cpu:
      return cpu(plan, backend.threads);
    case BackendKind::cuda:
      return cuda(plan);
  }
  throw InternalError("an unknown backend (open() was given no value of BackendKind); report it");
}

}  // namespace

// Between what BM3D's profiles were measured to need (bm3d/stabilisers.cpp), which average patches,
// too; not measured for non-local means.
double lean_of(const Params&) { return 0.03; }

Params guided(const Params& params) {
  Params p = params;
  if (params.guided) p.correction = 0;
  return p;
}

std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                               const Backend& backend) {
  validate(params);
  lull::validate(format);
  if (params.holes) check_holes(format);
  lull::validate(backend);
  require_instructions();
  const auto open_here = [&] {
    if (params.is_volume())
      return open_slices(params, format, [&](const VolumePlan& plan) {
        return make_on(backend, plan, make_reference_volume_engine, make_cpu_volume_engine,
                       make_cuda_volume_engine);
      });
    return open_frames(params, format, [&](const FramePlan& plan) {
      return make_on(backend, plan, make_reference_frame_engine, make_cpu_frame_engine,
                     make_cuda_frame_engine);
    });
  };
  return backend.kind == BackendKind::cuda ? lull::cuda::open_on_device(backend.device, open_here)
                                           : open_here();
}

std::unique_ptr<RepeatFinder> open_repeat_finder(const Params& params, const FrameFormat& format) {
  validate(params);
  if (params.is_volume()) return nullptr;
  // Of what passes through nothing is a repetition.
  return make_repeat_finder(params.noise.levels_in_samples(),
                            plane_sets(format, params.noise).empty() ? 0 : params.temporal);
}

double host_bytes(const Params& params, const FrameFormat& format) {
  double samples = 0;
  for (int i = 0; i < format.planes(); ++i)
    samples += 1.0 * (format.plane_width(i) + 2 * params.reach()) *
               (format.plane_height(i) + 2 * params.reach());
  // Each frame in work as the engine has it, and its result as a frame; one on its way in and out.
  const double inside =
      params.is_volume() ? 2 * params.reach_slices() + 8 : margin(params).after + 1;
  const double guides = params.guided ? 2 : 1;
  return samples * sizeof(float) * ((1 + guides) * inside + 4);
}

}  // namespace lull::nlm
