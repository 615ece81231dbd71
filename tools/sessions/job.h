#pragma once
// What a job in segments is, beside its input and how it is encoded: how its frames are denoised.

#include <optional>
#include <vector>

#include "bm3d/bm3d.h"
#include "io/media.h"
#include "noise/estimate/clipped_noise.h"
#include "pipeline/part_denoiser.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/method.h"

namespace lull::tools {

/// Whether this run makes segments of a job that was planned before.
[[nodiscard]] inline bool is_part_of_job(const DenoiseOptions& options) {
  return options.job.plan && !options.job.plans;
}

/// All that the denoised frames depend on. What only bounds memory, or how many work on them, is
/// not among it. If `noise` was not given as a sigma, a fact holds all of it, from which the runs
/// that continue the job take it. If it was, a fact holds its clip limits where samples show some.
[[nodiscard]] std::vector<io::JobFact> job_facts(const DenoiseOptions& options,
                                                 const Method& method, const NoiseRecord& noise,
                                                 const std::vector<bm3d::Backend>& backends);
/// The noise of the interrupted job that this one goes on with, if that was found or read.
[[nodiscard]] std::optional<NoiseRecord> noise_of_job(const DenoiseOptions& options);
/// The clip limits that the plan of a job has for a noise that was given as a sigma. The run makes
/// segments of the job. @throws BadData
[[nodiscard]] PlaneClipping clipping_of_job(const DenoiseOptions& options);

/// What a session has to see around the frames that are missing when a job goes on.
[[nodiscard]] pipeline::PartContext part_context_of(const Method& params,
                                                    const FrameFormat& format);

}  // namespace lull::tools
