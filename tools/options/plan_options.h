#pragma once
// The options that the plan of a shared job keeps for all processes that work on the job.

#include <string>
#include <utility>
#include <vector>

#include "io/jobs.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Whether a plan keeps this option. A plan keeps an option if results may depend on it, but never
/// if it names files, replaces files or opens connections. The reason is that a plan from another
/// user must not do this for the user who runs a part of the job.
[[nodiscard]] bool belongs_to_plan(const OptionRow& row);

/// The given options that belong to the plan.
/// @throws InvalidArgument  an option cannot be used in a shared job
[[nodiscard]] std::vector<std::pair<std::string, std::string>> options_for_plan(
    const DenoiseOptions& given);

/// The options of a plan.
/// @throws BadData  the plan has an option that is unknown or does not belong to a plan, or its
///         options contradict each other
[[nodiscard]] DenoiseOptions options_of_plan(const io::JobPlan& plan);

}  // namespace lull::tools
