#pragma once
// The options that the plan of a shared job keeps for all processes that work on the job.

#include <string>
#include <utility>
#include <vector>

#include "io/jobs.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Whether a plan keeps this option. It does if results may depend on the option, but never if the
/// option names files, replaces files or opens connections: a plan must not act for the user who
/// works by it.
[[nodiscard]] bool belongs_to_plan(const OptionRow& row);

/// Of the options that were given, those for the plan.
/// @throws InvalidArgument  one of them could not be read from a plan
[[nodiscard]] std::vector<std::pair<std::string, std::string>> options_for_plan(
    const DenoiseOptions& given);

/// What a plan asks for. @throws BadData  it has an option that belongs to no plan, or that does
/// not exist, or its options contradict each other
[[nodiscard]] DenoiseOptions options_of_plan(const io::JobPlan& plan);

}  // namespace lull::tools
