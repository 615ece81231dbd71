#pragma once
// The options in the plan of a shared job, which all processes of the job use.

#include <string>
#include <utility>
#include <vector>

#include "io/jobs.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Returns the options in `given` that the plan of a shared job stores, as pairs of name and value.
/// If a preset determines the profile, the function adds the profile as an option.
/// @throws InvalidArgument  shared jobs do not support an option
[[nodiscard]] std::vector<std::pair<std::string, std::string>> options_for_plan(
    const DenoiseOptions& given);

/// Returns the options of a plan.
/// @throws BadData  the plan contains an option that is not allowed in plans, or options contradict
///     each other
[[nodiscard]] DenoiseOptions options_of_plan(const io::JobPlan& plan);

}  // namespace lull::tools
