#pragma once
// The denoising settings that a job in segments records, equal in all runs of the job. The module
// io records the settings of input and encoding.

#include <optional>
#include <vector>

#include "bm3d/bm3d.h"
#include "io/media.h"
#include "noise/estimate/clipped_noise.h"
#include "pipeline/part_denoiser.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/repair/repair_plan.h"
#include "tools/sessions/method.h"

namespace lull::tools {

/// Returns all settings that affect the denoised frames. With --sigma, the settings include the
/// clipping limits. Without --sigma, the settings include the complete noise record.
[[nodiscard]] std::vector<io::JobFact> job_facts(const DenoiseOptions& options,
                                                 const Method& method, const NoiseRecord& noise,
                                                 const RepairPlan& repair,
                                                 const std::vector<bm3d::Backend>& backends);
/// Returns the noise of the interrupted job that this run continues, or no value if the job has
/// --sigma.
[[nodiscard]] std::optional<NoiseRecord> noise_of_job(const DenoiseOptions& options);
/// Returns the defects that the plan of a shared job contains, or the defects of the interrupted
/// job that this run continues. Returns no value if the run has no plan and continues no job.
/// @param format  format of complete frames
/// @throws BadData
[[nodiscard]] std::optional<RepairPlan> repair_of_job(const DenoiseOptions& options,
                                                      const FrameFormat& format);
/// Returns the clipping limits that the plan of a job contains for noise from --sigma. Only runs
/// that compute segments of the job may call this function.
/// @throws BadData
[[nodiscard]] PlaneClipping clipping_of_job(const SharedJob& job);

/// Returns the numbers of context frames that a resumed job needs before and after each span of
/// missing frames.
[[nodiscard]] pipeline::PartContext part_context_of(const Method& params,
                                                    const FrameFormat& format);

}  // namespace lull::tools
