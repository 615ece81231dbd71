#pragma once
// Determines the facts of a job in segments, which are the recorded settings of denoising. A run
// can continue the job only with equal facts. The module io records the facts about the input and
// the encoding.

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

/// Returns the facts about all settings that affect the denoised frames. Settings that only limit
/// memory or parallelism do not count as facts. If --sigma gives the noise, one fact contains the
/// clip limits that lull found in the samples. Otherwise one fact contains the complete noise
/// record, and the runs that continue the job use this record.
[[nodiscard]] std::vector<io::JobFact> job_facts(const DenoiseOptions& options,
                                                 const Method& method, const NoiseRecord& noise,
                                                 const RepairPlan& repair,
                                                 const std::vector<bm3d::Backend>& backends);
/// Returns the noise of the interrupted job that this run continues. Returns nothing if --sigma
/// gave the noise of the job.
[[nodiscard]] std::optional<NoiseRecord> noise_of_job(const DenoiseOptions& options);
/// Returns the defects that a planned or interrupted job repairs, if this run continues the job.
/// Returns nothing if this run itself decides which defects it repairs.
/// @param format  format of complete frames
/// @throws BadData
[[nodiscard]] std::optional<RepairPlan> repair_of_job(const DenoiseOptions& options,
                                                      const FrameFormat& format);
/// Returns the clip limits in the plan of a job, for noise that --sigma gives. Only a run that
/// computes segments of the job may call this function.
/// @throws BadData
[[nodiscard]] PlaneClipping clipping_of_job(const SharedJob& job);

/// Returns the numbers of context frames that a session needs around the missing frames of a
/// resumed job.
[[nodiscard]] pipeline::PartContext part_context_of(const Method& params,
                                                    const FrameFormat& format);

}  // namespace lull::tools
