#pragma once
// The facts of a job in segments: the recorded settings of denoising. The job continues only with
// equal settings. Facts about the input and the encoding are recorded separately.

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

/// Returns the facts about everything that affects the denoised frames. Settings that only limit
/// memory or parallelism are not included. If the noise was not given by --sigma, one fact contains
/// the complete noise record, and the runs that continue the job use this record. If the noise was
/// given by --sigma, one fact contains the clip limits that were found in the samples.
[[nodiscard]] std::vector<io::JobFact> job_facts(const DenoiseOptions& options,
                                                 const Method& method, const NoiseRecord& noise,
                                                 const RepairPlan& repair,
                                                 const std::vector<bm3d::Backend>& backends);
/// Returns the noise of the interrupted job that this run continues, if that noise was estimated or
/// read from a file.
[[nodiscard]] std::optional<NoiseRecord> noise_of_job(const DenoiseOptions& options);
/// Returns the defects that the planned or interrupted job repairs, for a run that continues the
/// job. Returns nothing if this run itself decides which defects it repairs.
/// @param format  format of complete frames
/// @throws BadData
[[nodiscard]] std::optional<RepairPlan> repair_of_job(const DenoiseOptions& options,
                                                      const FrameFormat& format);
/// Returns the clip limits that the plan of a job contains for noise that was given by --sigma. The
/// run must be one that computes segments of the job.
/// @throws BadData
[[nodiscard]] PlaneClipping clipping_of_job(const SharedJob& job);

/// Returns the context that a session needs around the missing frames of a resumed job.
[[nodiscard]] pipeline::PartContext part_context_of(const Method& params,
                                                    const FrameFormat& format);

}  // namespace lull::tools
