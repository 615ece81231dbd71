#pragma once
// Parses the command lines of the small programs that `./run demo` builds: names, and options with
// a number. CLI11, which the other programs use, would take longer to compile than these programs
// themselves.

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lull::bench {

class Arguments {
 public:
  /// Reads `names` names, and options of the form `--option NUMBER`, in any order. If the command
  /// line has another form, prints `usage` and ends the program.
  Arguments(int argc, char** argv, std::size_t names, const char* usage) : usage_(usage) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view argument = argv[i];
      if (argument == "--help" || argument == "-h") end(0, stdout);
      if (!argument.starts_with("--"))
        names_.emplace_back(argument);
      else if (++i < argc)
        options_.push_back({std::string(argument), argv[i]});
      else
        end(2, stderr);
    }
    if (names_.size() != names) end(2, stderr);
  }

  const std::string& name(std::size_t index) const { return names_.at(index); }

  /// Returns the number of `--option`, which must be between 0 and `max`. If the option is not
  /// given, returns `otherwise`; without this default, the option is required.
  double number(std::string_view option, double max, std::optional<double> otherwise = {}) {
    std::optional<double> number = otherwise;
    for (Option& given : options_) {
      if (given.name != option) continue;
      given.is_known = true;
      char* rest = nullptr;
      number = std::strtod(given.value.c_str(), &rest);
      if (*rest || given.value.empty() || !(*number >= 0 && *number <= max)) end(2, stderr);
    }
    if (!number) end(2, stderr);
    return *number;
  }

  /// Ends the program if the user gave an option that number() has not read.
  void reject_others() const {
    for (const Option& given : options_)
      if (!given.is_known) end(2, stderr);
  }

 private:
  struct Option {
    std::string name, value;
    bool is_known = false;
  };

  [[noreturn]] void end(int code, std::FILE* stream) const {
    std::fprintf(stream, "usage: %s\n", usage_);
    std::exit(code);
  }

  const char* usage_;
  std::vector<std::string> names_;
  std::vector<Option> options_;
};

}  // namespace lull::bench
