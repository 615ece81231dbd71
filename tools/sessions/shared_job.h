#pragma once
// Prepares shared jobs, before a process reads frames. The functions make or read the plan, and
// prepare the process's part of the job.

#include <functional>
#include <memory>
#include <string>

#include "core/denoiser.h"
#include "io/jobs.h"
#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/open_denoiser.h"
#include "tools/sessions/sessions.h"

namespace lull::tools {

/// Returns the options of `lull denoise --job`: the options in the plan, followed by those that the
/// user gave.
/// @throws NoInput, BadData  there is no valid plan
/// @throws InvalidArgument  the options contradict each other
[[nodiscard]] DenoiseOptions with_plan(const DenoiseOptions& given);

/// Returns a new plan that contains the options that the user gave.
/// @throws CannotCreate  a file has the name of the job's folder
[[nodiscard]] std::shared_ptr<io::JobPlan> create_plan(const DenoiseOptions& options);

/// Returns the options with which the sink of the run is opened.
[[nodiscard]] io::SinkOptions sink_options(const DenoiseOptions& options);

/// Returns a description of the plan for a job scheduler: one JSON object and a line break.
[[nodiscard]] std::string to_json(const SharedJob& job);

/// Sets the position from which the missing frames of a part are read (SharedJob::start_picture).
/// Returns false if no frames are missing. `info` receives messages about the position and the
/// missing frames.
[[nodiscard]] bool prepare_part(SharedJob& job, const Notify& info);

/// Sets the options of the sink for that part of the job which `options` selects. The facts must be
/// added later.
void add_part(const DenoiseOptions& options, io::SegmentOptions& segments);
/// Sets the options of the source for that part of the job which this process performs. A process
/// that plans the job records an index of all pictures; other processes start at the position of
/// their part.
void add_part(const DenoiseOptions& options, io::SourceOptions& source);
/// Sets the options of a side input for this part of the job. The plan contains the side input
/// under `name`; `source` contains the options of the input. Returns the number of frames of the
/// side input before the frame that belongs to the input's first frame.
[[nodiscard]] std::int64_t add_part_to_side_input(const RunOptions& options,
                                                  const std::string& name,
                                                  io::SourceOptions& source);

/// Returns a denoiser that filters nothing: it returns frames without samples and records the
/// states of repeated frames in the plan.
/// @param context_end  is called with the index of the last picture that is needed
/// @param at_end  is called after the last frame, before the plan is written
[[nodiscard]] std::unique_ptr<Denoiser> index_frames(const DenoiseOptions& options,
                                                     const ClipPlan& plan,
                                                     const FrameFormat& format,
                                                     std::function<void(std::int64_t)> context_end,
                                                     std::function<void()> at_end);

/// Replaces the recorded settings (facts) of the plan that have the same names as `facts`.
void update_facts(io::JobPlan& plan, const std::vector<io::JobFact>& facts);

}  // namespace lull::tools
