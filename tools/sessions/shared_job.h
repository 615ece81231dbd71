#pragma once
// Prepares shared jobs before a process reads frames: creates or reads the plan, and selects the
// part of the job for the process.

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

/// Returns the options of `lull denoise --job`: the options in the plan, followed by those of the
/// command line.
/// @throws NoInput, BadData  there is no valid plan
/// @throws InvalidArgument  the options contradict each other
[[nodiscard]] DenoiseOptions with_plan(const DenoiseOptions& given);

/// Returns a new plan with the options of the command line.
/// @throws CannotCreate  a file has the name of the job's folder
[[nodiscard]] std::shared_ptr<io::JobPlan> create_plan(const DenoiseOptions& options);

/// Returns the options with which the sink of the run is opened.
[[nodiscard]] io::SinkOptions sink_options(const DenoiseOptions& options);

/// Returns a description of the plan for a job scheduler: one JSON object and a line break.
[[nodiscard]] std::string to_json(const SharedJob& job);

/// Determines the picture at which the source must begin to read for the missing frames of a part
/// (SharedJob::start_picture). Returns false if no frames are missing. Calls `info` with messages
/// about this picture and the missing frames.
[[nodiscard]] bool prepare_part(SharedJob& job, const Notify& info);

/// Sets the options of the sink for the part of the job that `options` selects. The recorded
/// settings must be added after this call.
void add_part(const DenoiseOptions& options, io::SegmentOptions& segments);
/// Sets the options of the source for the part of the job that this process computes. A process
/// that plans the job records an index of all pictures; any other process starts at the position of
/// its part.
void add_part(const DenoiseOptions& options, io::SourceOptions& source);
/// Sets the options `source` of a side input for the part of the job that this process computes.
/// `name` is the name of the side input in the plan. Returns the number of frames of the side input
/// before the frame that belongs to the first frame of the input.
[[nodiscard]] std::int64_t add_part_to_side_input(const RunOptions& options,
                                                  const std::string& name,
                                                  io::SourceOptions& source);

/// Returns a denoiser that filters nothing: it returns frames without samples, and records in the
/// plan which frames repeat the previous frame.
/// @param context_end  is called with the index of the last picture that the denoiser needs
/// @param at_end  is called after the last frame, before the plan is written
[[nodiscard]] std::unique_ptr<Denoiser> index_frames(const DenoiseOptions& options,
                                                     const ClipPlan& plan,
                                                     const FrameFormat& format,
                                                     std::function<void(std::int64_t)> context_end,
                                                     std::function<void()> at_end);

/// Replaces the recorded settings of the plan whose names occur in `facts`.
void update_facts(io::JobPlan& plan, const std::vector<io::JobFact>& facts);

}  // namespace lull::tools
