#pragma once

#include <functional>
#include <string>

namespace lull::tools {

struct CommandLine {
  std::function<int()> run;  // runs the command; empty: nothing runs, and `text` is printed
  std::string text;          // help or version text for stdout
};

/// Parses the arguments of the process.
/// @throws InvalidArgument  the arguments are invalid
[[nodiscard]] CommandLine parse(int argc, const char* const* argv);

}  // namespace lull::tools
