// Fuzzes a command line, which consists of arguments that each end with a NUL byte. The command
// line is parsed and checked; nothing is run.

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "tools/command_line/parser.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"

namespace {

using namespace lull;

std::vector<std::string> arguments_in(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> arguments{"lull"};
  constexpr std::size_t most = 64;
  for (const std::uint8_t* end = data + size; data != end && arguments.size() < most;) {
    const std::uint8_t* stop = std::find(data, end, 0);
    arguments.emplace_back(data, stop);
    data = stop == end ? end : stop + 1;
  }
  return arguments;
}

bool is_name(std::string_view names, const std::string& argument) {
  for (std::size_t comma = 0; comma != names.npos;) {
    comma = names.find(',');
    if (names.substr(0, comma) == argument) return true;
    names.remove_prefix(comma == names.npos ? 0 : comma + 1);
  }
  return false;
}

/// Parses the arguments like the command, and makes all checks that precede a run.
void check(const std::vector<std::string>& arguments) {
  tools::DenoiseOptions options;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    for (const tools::OptionRow& row : tools::denoise_option_table())
      if (is_name(row.names, arguments[i])) {
        const bool flag = row.value.empty();
        set_option(options, row, flag || i + 1 == arguments.size() ? "" : arguments[i + 1]);
      }
  tools::check(options);
  for (const io::ValueScale& values :
       {io::ValueScale{}, io::ValueScale{-1024, 4095, 65535, true}, io::ValueScale{0, 1, 1, false}})
    fuzz::expect_errors([&] {
      tools::DenoiseOptions scaled = options;
      tools::rescale_sigma(scaled, values);
      (void)tools::make_params(scaled, tools::given_noise(scaled.noise));
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> arguments = arguments_in(data, size);
  fuzz::expect_errors([&] { check(arguments); });
  // Most of the time is spent in constructing CLI11's parser.
  const bool denoises = arguments.size() > 1 && arguments[1] == "denoise";
  if (size % (denoises ? 16 : 4) != 0) return 0;
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  fuzz::expect_errors(
      [&] { (void)tools::parse(static_cast<int>(pointers.size()), pointers.data()); });
  return 0;
}
