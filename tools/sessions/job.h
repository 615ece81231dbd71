#pragma once
// The settings of denoising that a job in segments records. A run can continue the job only with
// equal settings. The module io records the settings about the input and the encoding.

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

/// Returns all settings that affect the denoised frames, but not settings that only limit memory or
/// parallelism. If --sigma gives the noise, they include the clip limits that lull found in the
/// samples. Otherwise they include the complete noise record, which runs that continue the job use.
[[nodiscard]] std::vector<io::JobFact> job_facts(const DenoiseOptions& options,
                                                 const Method& method, const NoiseRecord& noise,
                                                 const RepairPlan& repair,
                                                 const std::vector<bm3d::Backend>& backends);
/// Returns the noise of the interrupted job that this run continues; nothing if --sigma gave the
/// noise of the job.
[[nodiscard]] std::optional<NoiseRecord> noise_of_job(const DenoiseOptions& options);
/// Returns the defects that the planned or interrupted job repairs, if this run continues it;
/// otherwise nothing.
/// @param format  format of complete frames
/// @throws BadData
[[nodiscard]] std::optional<RepairPlan> repair_of_job(const DenoiseOptions& options,
                                                      const FrameFormat& format);
/// Returns the clip limits in the plan of a job, for noise that --sigma gives. Only for runs that
/// compute segments of the job.
/// @throws BadData
[[nodiscard]] PlaneClipping clipping_of_job(const SharedJob& job);

/// Returns the numbers of context frames that a session needs around the missing frames of a
/// resumed job.
[[nodiscard]] pipeline::PartContext part_context_of(const Method& params,
                                                    const FrameFormat& format);

}  // namespace lull::tools
