#pragma once
// The command line of lull.

#include <functional>
#include <string>

namespace lull::tools {

struct CommandLine {
  std::function<int()> run;  // what was asked for; empty: only `text`
  std::string text;          // for stdout: help or version
};

/// @throws InvalidArgument  the arguments make no sense
[[nodiscard]] CommandLine parse(int argc, const char* const* argv);

}  // namespace lull::tools
