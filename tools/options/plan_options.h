#pragma once
// The options that the plan of a shared job keeps for all processes that work on the job.

#include <string>
#include <utility>
#include <vector>

#include "io/jobs.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// The given options that belong to the plan.
/// @throws InvalidArgument  an option cannot be used in a shared job
[[nodiscard]] std::vector<std::pair<std::string, std::string>> options_for_plan(
    const DenoiseOptions& given);

/// The options of a plan.
/// @throws BadData  the plan has an option that is unknown or does not belong to a plan, or its
///         options contradict each other
[[nodiscard]] DenoiseOptions options_of_plan(const io::JobPlan& plan);

}  // namespace lull::tools
