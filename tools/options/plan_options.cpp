#include "tools/options/plan_options.h"

#include "core/error.h"
#include "io/encode/file_options.h"
#include "tools/options/option_table.h"

namespace lull::tools {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw BadData("the plan " + problem + "; plan the job again");
}

void apply(const std::pair<std::string, std::string>& given, DenoiseOptions& options) {
  const OptionRow* row = find_option(given.first);
  if (!row) refuse("has an option that this version of lull does not know (" + given.first + ")");
  if ((row->uses & kept_by_plan) == 0)
    refuse("sets " + given.first + " (an option that only the command line may set)");
  set_option(options, *row, given.second);
}

/// Replaces the path of a guide or a feature buffer by the path in the plan's list of inputs. The
/// original path is valid only on the machine that made the plan.
void apply_input(const io::JobPlan::AdditionalInput& input, DenoiseOptions& options) {
  if (input.name == guide_name) options.method.guide = input.input;
  for (FeatureChoice& choice : options.method.features)
    if (!choice.file.empty() && input.name == option_of(choice.feature)) choice.file = input.input;
}

/// Checks that the plan's list of inputs contains the files of the guide and the feature buffers.
void check_additional_inputs(const io::JobPlan& plan, const DenoiseOptions& options) {
  if (has_guide_file(options.method) && !plan.find_additional(guide_name))
    refuse("does not list the file of its guide");
  for (const FeatureChoice& choice : options.method.features)
    if (!choice.file.empty() && !plan.find_additional(option_of(choice.feature)))
      refuse("does not list the file of " + option_of(choice.feature));
}

/// Repeats the checks of `lull plan`, because another program may have changed the plan.
void check_plan_options(const io::JobPlan& plan, DenoiseOptions options) {
  options.input.file = plan.input;
  options.output.file = plan.output;
  options.run.segment_frames = plan.segment_frames;
  check(options);
  if (const std::string option = io::option_with_file(options.output.vopts); !option.empty())
    refuse("gives a file to the encoder (" + option + ")");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> options_for_plan(const DenoiseOptions& given) {
  if (const std::string option = io::option_with_file(given.output.vopts); !option.empty())
    throw InvalidArgument(
        "--vopts " + option +
        " (it names a file that all processes of the job would use at the same time); "
        "leave it out");
  std::vector<std::pair<std::string, std::string>> options;
  for (const auto& option : given.given) {
    const OptionRow* row = find_option(option.first);
    if (row && (row->uses & kept_by_plan) != 0) options.push_back(option);
  }
  // The plan stores the profile, because a preset may have another profile in another version of
  // lull.
  if (given.method.preset && !given.method.profile)
    options.emplace_back("-p,--profile", name_of(given.method.preset->profile));
  return options;
}

DenoiseOptions options_of_plan(const io::JobPlan& plan) {
  DenoiseOptions options;
  try {
    for (const auto& option : plan.options) apply(option, options);
    check_additional_inputs(plan, options);
    for (const io::JobPlan::AdditionalInput& input : plan.additional) apply_input(input, options);
    check_plan_options(plan, options);
  } catch (const InvalidArgument& error) {
    refuse("has invalid options: " + without_suggestion(error.what()));
  }
  return options;
}

}  // namespace lull::tools
