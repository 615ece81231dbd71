#pragma once
// A version of open_cuda() in which tests can replace the matcher. The function exists only in
// builds with CUDA.

#include <memory>

#include "bm3d/params.h"
#include "core/denoiser.h"
#include "match/cuda/matcher.h"

namespace lull::bm3d {

[[nodiscard]] std::unique_ptr<Denoiser> open_cuda(const Params& params, const FrameFormat& format,
                                                  int device, int streams,
                                                  cuda::MatcherFactory make_matcher,
                                                  bool results_on_device = false,
                                                  const ResultSamples& results = {});

}  // namespace lull::bm3d
