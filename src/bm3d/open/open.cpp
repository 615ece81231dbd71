#include <cmath>
#include <string>

#include "bm3d/bm3d.h"
#include "bm3d/cuda/session.h"
#include "bm3d/open/host_session.h"
#include "bm3d/phase_engine.h"
#include "core/error.h"
#include "match/guide.h"
#include "time/repeat_finder.h"

namespace lull::bm3d {
namespace {

void validate_format(const FrameFormat& f) {
  if (f.width < 1 || f.height < 1)
    throw InvalidArgument("a picture of " + std::to_string(f.width) + "x" +
                          std::to_string(f.height) +
                          " samples (there is nothing in it); give one "
                          "of at least 1x1");
  const bool bits_fit = f.sample == SampleType::u8    ? f.bits == 8
                        : f.sample == SampleType::u16 ? f.bits >= 8 && f.bits <= 16
                                                      : f.bits == 32;
  if (!bits_fit)
    throw InvalidArgument("samples of " + std::to_string(f.bits) +
                          " bits (must be 8 to 16 bits, or 32-bit float); convert them first");
  const bool white_fits =
      f.sample == SampleType::f32 ? f.white > 0 && std::isfinite(f.white) : f.white == 1;
  if (!white_fits)
    throw InvalidArgument("white = " + std::to_string(f.white) +
                          " (must be a number above 0 for floats, 1 for integers); choose another");
  if (f.subsampled() && f.layout != Layout::yuv)
    throw InvalidArgument("subsampled planes without chroma (only YUV has them); convert to YUV");
}

void validate_backend(const Backend& b) {
  if (b.streams < 1 || b.streams > 16)
    throw InvalidArgument("streams = " + std::to_string(b.streams) +
                          " (must be from 1 to 16); choose one in range");
  if (b.threads < 0)
    throw InvalidArgument("threads = " + std::to_string(b.threads) +
                          " (must be at least 0); give 0 for every core");
}

/// What Highway compiles has no lesser set of instructions (lull_prepare_sources in
/// cmake/LullTargets.cmake), whatever the backend.
void require_instructions() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("sse4.2"))
    throw DeviceUnavailable(
        "this CPU cannot run lull (it lacks SSE4.2); take one from 2011 or later");
#endif
}

}  // namespace

std::unique_ptr<Denoiser> open(const Params& given, const FrameFormat& format,
                               const Backend& backend) {
  validate(given);
  validate_format(format);
  validate_backend(backend);
  require_instructions();
  Params params = given;
  if (!filters_any(params.noise, format)) params.temporal = 0;  // frames need not wait for others
  switch (backend.kind) {
    case BackendKind::reference:
      return open_host(params, format, make_reference_engine());
    case BackendKind::cpu:
      return open_host(params, format, make_cpu_engine(backend.threads));
    case BackendKind::cuda:
      return open_cuda(params, format, backend.device, backend.streams);
  }
  throw InternalError("an unknown backend (open() was given no value of BackendKind); report it");
}

std::unique_ptr<RepeatFinder> open_repeat_finder(const Params& params, const FrameFormat& format) {
  validate(params);
  // Of what passes through nothing is a repetition.
  return make_repeat_finder(params.noise.levels_in_samples(),
                            filters_any(params.noise, format) ? params.temporal : 0);
}

std::pmr::memory_resource* frame_memory(const Backend& backend) {
  return backend.kind == BackendKind::cuda ? cuda_frame_memory() : std::pmr::get_default_resource();
}

}  // namespace lull::bm3d
