#pragma once
// The command line of lull.

#include <functional>
#include <string>

namespace lull::tools {

struct CommandLine {
  std::function<int()> run;  // the command to run; empty: only `text`
  std::string text;          // help or version, for stdout
};

/// @throws InvalidArgument  the arguments are invalid
[[nodiscard]] CommandLine parse(int argc, const char* const* argv);

}  // namespace lull::tools
