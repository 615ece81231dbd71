#pragma once
// Defines the settings of denoising that a job in segments records. A run can continue the job only
// with equal settings. The module io records the settings of the input and the encoding.

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

/// Returns all settings that affect the denoised frames. The list excludes settings that only limit
/// memory or parallelism. With --sigma, the list contains the clip limits of the samples. Without
/// --sigma, the list contains the complete noise record for runs that continue the job.
[[nodiscard]] std::vector<io::JobFact> job_facts(const DenoiseOptions& options,
                                                 const Method& method, const NoiseRecord& noise,
                                                 const RepairPlan& repair,
                                                 const std::vector<bm3d::Backend>& backends);
/// Returns the noise of the interrupted job that this run continues. Returns no value if --sigma
/// specifies the noise of the job.
[[nodiscard]] std::optional<NoiseRecord> noise_of_job(const DenoiseOptions& options);
/// Returns the defects in the plan or in the interrupted job that this run continues. Returns no
/// value if the run continues no job.
/// @param format  format of complete frames
/// @throws BadData
[[nodiscard]] std::optional<RepairPlan> repair_of_job(const DenoiseOptions& options,
                                                      const FrameFormat& format);
/// Returns the clip limits in the plan of a job, for noise from --sigma. Only runs that compute
/// segments of the job may call this function.
/// @throws BadData
[[nodiscard]] PlaneClipping clipping_of_job(const SharedJob& job);

/// Returns the numbers of context frames that a session requires around the missing frames of a
/// resumed job.
[[nodiscard]] pipeline::PartContext part_context_of(const Method& params,
                                                    const FrameFormat& format);

}  // namespace lull::tools
