#pragma once
// Jobs that several processes share: what a process knows of its part before it reads a frame.

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

/// What `lull denoise --job` does: the options of the plan, and on top of them those that were
/// given. @throws NoInput, BadData  there is no plan; InvalidArgument  options that do not go
/// together
[[nodiscard]] DenoiseOptions with_plan(const DenoiseOptions& given);

/// What the plan of a job says when it begins: the options that were given.
/// @throws CannotCreate  the job's folder is a file
[[nodiscard]] std::shared_ptr<io::JobPlan> create_plan(const DenoiseOptions& options);

/// What the output is made with.
[[nodiscard]] io::SinkOptions sink_options(const DenoiseOptions& options);

/// What an engine has to know of a plan, one object and the end of its line.
[[nodiscard]] std::string to_json(const SharedJob& job);

/// Says where the input is read from for what is missing of a part (SharedJob::begin). False:
/// nothing is missing. `info` is told of both.
[[nodiscard]] bool prepare_part(SharedJob& job, const Notify& info);

/// The part of the job that `options` names, for its sink; its facts are not there yet.
void add_part(const DenoiseOptions& options, io::SegmentOptions& segments);
/// The same for its source: a plan notes all pictures, others begin where they have to.
void add_part(const DenoiseOptions& options, io::SourceOptions& source);
/// The same for what is read beside it, which the plan has under `name`. `source`: as the input's
/// was. How many frames it then gives before the one that belongs to the input's first.
[[nodiscard]] std::int64_t add_part_to_side_input(const DenoiseOptions& options, const std::string& name,
                                           io::SourceOptions& source);

/// Denoises nothing: frames come out without samples, and what they are to each other goes into the
/// plan.
/// @param context_end  told the number of a picture behind which nothing matters
/// @param at_end  called when all frames went by, before the plan is written
[[nodiscard]] std::unique_ptr<Denoiser> index_frames(const DenoiseOptions& options,
                                                    const ClipPlan& plan, const FrameFormat& format,
                                                    std::function<void(std::int64_t)> context_end,
                                                    std::function<void()> at_end);

/// Puts facts in the place of those of the same name.
void update_facts(io::JobPlan& plan, const std::vector<io::JobFact>& facts);

}  // namespace lull::tools
