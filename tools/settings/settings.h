#pragma once
// Options for many runs, by descending precedence: command line, environment variables
// (LULL_PROFILE for --profile), settings file (--config), defaults.

#include <functional>
#include <string>
#include <vector>

#include "tools/options/option_table.h"

namespace lull::tools {

/// A value of an option, with the place where the user set the value.
struct OptionValue {
  OptionRow row;
  std::string value;  // empty for a flag
  std::string place;  // "LULL_SIGMA" or "farm.toml:3"; empty: the command line
  bool off = false;   // for flags: the value switches the flag off
};

/// Returns the environment variable of an option, for example LULL_LOG_LEVEL.
[[nodiscard]] std::string variable_of(const OptionRow& row);

using Environment = std::function<const char*(const std::string&)>;

/// Properties of a command, set by the parser.
struct CommandSettings {
  std::string command;             // "denoise"
  std::vector<std::string> names;  // of all commands
  std::vector<OptionRow> rows;     // options of this command
  /// True if the command processes a part of a shared job, so that only options that describe the
  /// machine (bit `of_machine`) take effect.
  bool is_part = false;
};

/// Returns all values that apply to a run. If two values set the same property, the value with the
/// higher precedence replaces the other value: for example, --preset on the command line replaces
/// LULL_PROFILE.
/// @param given  the values on the command line, which come last in the result
/// @throws InvalidArgument  the file or a variable is invalid
/// @throws NoInput  lull cannot read the file
[[nodiscard]] std::vector<OptionValue> with_settings(const CommandSettings& command,
                                                     std::vector<OptionValue> given,
                                                     const Environment& environment);

/// Applies the values to `options`. A message about an invalid value begins with
/// OptionValue::place.
/// @throws InvalidArgument
void apply_values(const std::vector<OptionValue>& values, DenoiseOptions& options);

/// Returns a message about environment variables whose names resemble a variable of lull, or an
/// empty string. `variables` are the names of all environment variables.
[[nodiscard]] std::string misspelt_variables(const std::vector<std::string>& variables);

}  // namespace lull::tools
