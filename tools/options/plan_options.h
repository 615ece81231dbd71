#pragma once
// The options that are stored in the plan of a shared job, for all processes that work on the job.

#include <string>
#include <utility>
#include <vector>

#include "io/jobs.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Returns the options of the command line that the plan stores.
/// @throws InvalidArgument  an option cannot be used in a shared job
[[nodiscard]] std::vector<std::pair<std::string, std::string>> options_for_plan(
    const DenoiseOptions& given);

/// Returns the options that a plan contains.
/// @throws BadData  an option is unknown or is not allowed in plans, or options contradict each
///     other
[[nodiscard]] DenoiseOptions options_of_plan(const io::JobPlan& plan);

}  // namespace lull::tools
