#pragma once
// Prepares shared jobs: creates or reads the plan, and selects the part of the job for the process.

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

/// Returns the options of `lull denoise --job`: first the options in the plan, then the options on
/// the command line.
/// @throws NoInput, BadData  there is no valid plan
/// @throws InvalidArgument  the options contradict each other
[[nodiscard]] DenoiseOptions with_plan(const DenoiseOptions& given);

/// Returns a new plan with the options on the command line.
/// @throws CannotCreate  the path of the job's folder is the path of a file
[[nodiscard]] std::shared_ptr<io::JobPlan> create_plan(const DenoiseOptions& options);

/// Returns the options for opening the sink of a run.
[[nodiscard]] io::SinkOptions sink_options(const DenoiseOptions& options);

/// Returns a summary of the plan for a job scheduler: one JSON object and a line feed.
[[nodiscard]] std::string to_json(const SharedJob& job);

/// Sets SharedJob::start_picture to the picture at which the process must start to decode the
/// missing frames of its part. Returns false if no frames are missing. `info` receives a message.
[[nodiscard]] bool prepare_part(SharedJob& job, const Notify& info);

/// Sets the options of the sink for the part that `options` selects. The caller must add recorded
/// settings (SegmentOptions) later.
void add_part(const DenoiseOptions& options, io::SegmentOptions& segments);
/// Sets the options of the source for a shared job. A run that plans the job makes the source
/// record an index of all pictures. A process that denoises a part of the job makes the source
/// start at this part.
void add_part(const DenoiseOptions& options, io::SourceOptions& source);
/// Sets the source options of the side input `name` for the part of this process. Returns the value
/// of SideInput::leading_frames.
[[nodiscard]] std::int64_t add_part_to_side_input(const RunOptions& options,
                                                  const std::string& name,
                                                  io::SourceOptions& source);

/// Returns a denoiser that filters nothing, returns frames without samples, and records the
/// repeated frames in the plan.
/// @param context_end  receives the index of the last picture of the job
/// @param at_end  the denoiser calls this function after the last frame, before it writes the plan
[[nodiscard]] std::unique_ptr<Denoiser> index_frames(const DenoiseOptions& options,
                                                     const ClipPlan& plan,
                                                     const FrameFormat& format,
                                                     std::function<void(std::int64_t)> context_end,
                                                     std::function<void()> at_end);

/// Updates the recorded settings of a plan (JobPlan::facts). Each element of `facts` replaces the
/// value of the setting with the same name. Elements without such a setting have no effect.
void update_facts(io::JobPlan& plan, const std::vector<io::JobFact>& facts);

}  // namespace lull::tools
