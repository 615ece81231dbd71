#pragma once
// Options that the user sets for many runs: in a settings file (--config) and in environment
// variables (LULL_PROFILE for --profile). Precedence: the command line, then the environment, then
// the file, then the defaults.

#include <functional>
#include <string>
#include <vector>

#include "tools/options/option_table.h"

namespace lull::tools {

/// A value of an option, and where it comes from.
struct OptionValue {
  OptionRow row;
  std::string value;  // empty for a flag
  std::string place;  // "LULL_SIGMA" or "farm.toml:3"; empty: the command line
  bool off = false;   // for flags: the value switches the flag off
};

/// Returns the name of the variable of an option, for example LULL_LOG_LEVEL.
[[nodiscard]] std::string variable_of(const OptionRow& row);

using Environment = std::function<const char*(const std::string&)>;

/// What the parser knows about a command.
struct CommandSettings {
  std::string command;             // "denoise"
  std::vector<std::string> names;  // of all commands
  std::vector<OptionRow> rows;     // options of this command
  /// The command processes a part of a planned job. In this case, only options that describe the
  /// machine (of_machine) apply.
  bool is_part = false;
};

/// Returns all values that apply to a run, those of the command line last. A value replaces values
/// of lower precedence: those of the same option, and those of other options that set the same
/// property. For example, --preset of the command line replaces LULL_PROFILE. `given` contains the
/// values of the command line.
/// @throws InvalidArgument  the file or a variable is invalid; the message names the place
/// @throws NoInput  the file cannot be read
[[nodiscard]] std::vector<OptionValue> with_settings(const CommandSettings& command,
                                                     std::vector<OptionValue> given,
                                                     const Environment& environment);

/// Applies the values to `options`. A message about an invalid value begins with the place of the
/// value (OptionValue::place).
/// @throws InvalidArgument
void apply_values(const std::vector<OptionValue>& values, DenoiseOptions& options);

/// Returns a message about variables whose names resemble the name of an option's variable, so that
/// they are probably misspelt. The message is empty if there are none. `variables` are the names of
/// all variables.
[[nodiscard]] std::string misspelt_variables(const std::vector<std::string>& variables);

}  // namespace lull::tools
