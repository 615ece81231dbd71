#include <string>

#include "bm3d/bm3d.h"
#include "bm3d/cuda/session.h"
#include "bm3d/open/host_session.h"
#include "bm3d/open/linear_session.h"
#include "bm3d/phase_engine.h"
#include "core/error.h"
#include "core/instructions.h"
#include "core/validate_format.h"
#include "match/clusters.h"
#include "match/guide.h"
#include "noise/holes.h"
#include "time/repeat_finder.h"

namespace lull::bm3d {
namespace {

void validate_backend(const Backend& b) {
  if (b.streams < 1 || b.streams > 16)
    throw InvalidArgument("streams = " + std::to_string(b.streams) +
                          " (must be from 1 to 16); choose one in range");
  lull::validate(b);
}

/// Checks that 32-bit indices can number the patches of all clusters (host backends).
void require_numbered_patches(const Params& params, const FrameFormat& format) {
  for (const PhaseParams* phase : {&params.hard, &params.wiener})
    for (int i = 0; phase->clusters && i < format.planes(); ++i)
      if (params.noise.sigma(i) > 0 && fits_patch(format, i))
        require_numbered(format.plane_width(i), format.plane_height(i), 2 * params.temporal + 1,
                         *phase->clusters);
}

}  // namespace

std::unique_ptr<Denoiser> open(const Params& given, const FrameFormat& format,
                               const Backend& backend) {
  Params params = given;
  search_where_needed(params);
  validate(params);
  validate(format);
  validate_backend(backend);
  if (params.holes) check_holes(format);
  require_instructions();
  // If the session filters no plane, it returns each frame without waiting for neighbouring frames.
  if (!filters_any(params.noise, format)) params.temporal = 0;
  if (backend.kind != BackendKind::cuda) require_numbered_patches(params, format);
  const bool combines = params.linear_combinations && filters_any(params.noise, format);
  switch (backend.kind) {
    case BackendKind::reference:
      if (combines)
        return open_linear(params, format, linear::make_reference_engine(), backend.results);
      return open_host(params, format, make_reference_engine(), backend.results);
    case BackendKind::cpu:
      if (combines)
        return open_linear(params, format, linear::make_cpu_engine(backend.threads),
                           backend.results);
      return open_host(params, format, make_cpu_engine(backend.threads), backend.results);
    case BackendKind::cuda:
      return open_cuda(params, format, backend.device, backend.streams, backend.results_on_device,
                       backend.results);
  }
  throw InternalError("an unknown backend (open() was given no value of BackendKind); report it");
}

std::unique_ptr<RepeatFinder> open_repeat_finder(const Params& given, const FrameFormat& format) {
  Params params = given;
  search_where_needed(params);
  validate(params);
  // A session that filters no plane does not compare frames. For such a session, the RepeatFinder
  // must report no repeated frames.
  return make_repeat_finder(params.noise.levels_in_samples(),
                            filters_any(params.noise, format) ? params.temporal : 0);
}

std::pmr::memory_resource* frame_memory(const Backend& backend) {
  return backend.kind == BackendKind::cuda ? cuda_frame_memory(backend.device)
                                           : std::pmr::get_default_resource();
}

}  // namespace lull::bm3d
