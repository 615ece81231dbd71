#pragma once
// Reads the settings file of --config: values of options in TOML.

#include <string>
#include <vector>

namespace lull::tools {

/// A value of a settings file.
struct Setting {
  enum class Kind { text, number, boolean, array };

  std::string section;  // name of the table, which is the name of a command; may be empty
  std::string key;      // name of an option without dashes
  Kind kind = Kind::text;
  std::vector<std::string> values;  // one value, or the elements of an array
  int line = 0;                     // from 1
};

/// Parses a part of TOML 1.0: tables with bare names, and one-line values (string, number, boolean,
/// or array of strings and numbers). `name` is the file name for messages.
/// @throws InvalidArgument  the text contains other syntax
[[nodiscard]] std::vector<Setting> parse_settings(const std::string& text, const std::string& name);

/// Reads and parses a settings file of at most 1 MiB.
/// @throws NoInput, InvalidArgument
[[nodiscard]] std::vector<Setting> read_settings(const std::string& file);

}  // namespace lull::tools
