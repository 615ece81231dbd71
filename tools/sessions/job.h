#pragma once
// The identity of a job in segments, in addition to its input and encoding: how its frames are
// denoised.

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

/// Returns everything that affects the denoised frames, without settings that only limit memory or
/// parallelism. If the noise was not given by --sigma, a fact contains the complete noise record,
/// and the runs that continue the job use that record. If the noise was given by --sigma, a fact
/// contains the clip limits that were found in the samples.
[[nodiscard]] std::vector<io::JobFact> job_facts(const DenoiseOptions& options,
                                                 const Method& method, const NoiseRecord& noise,
                                                 const RepairPlan& repair,
                                                 const std::vector<bm3d::Backend>& backends);
/// Returns the noise of the interrupted job that this run continues, if it was estimated or read
/// from a file.
[[nodiscard]] std::optional<NoiseRecord> noise_of_job(const DenoiseOptions& options);
/// Returns the defects that the planned or interrupted job repairs, which this run continues.
/// Nothing if the run decides which defects it repairs.
/// @param format  of the complete frames
/// @throws BadData
[[nodiscard]] std::optional<RepairPlan> repair_of_job(const DenoiseOptions& options,
                                                      const FrameFormat& format);
/// Returns the clip limits in the plan of a job, for a noise that was given by --sigma. The run
/// must make segments of the job.
/// @throws BadData
[[nodiscard]] PlaneClipping clipping_of_job(const SharedJob& job);

/// Returns the context that a session needs around the missing frames when a job is resumed.
[[nodiscard]] pipeline::PartContext part_context_of(const Method& params,
                                                    const FrameFormat& format);

}  // namespace lull::tools
