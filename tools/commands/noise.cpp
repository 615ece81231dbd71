// What is known of the noise of an input: a line, JSON, a picture, a file for --noise.

#include <cstdio>
#include <filesystem>
#include <string>

#include "core/error.h"
#include "io/text_file.h"
#include "tools/commands/commands.h"
#include "tools/noise/noise_text.h"
#include "tools/search/noise_search.h"
#include "tools/search/volume_look.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;

/// Before work is spent on what could not be written.
void check_output(const NoiseOptions& options, const std::string& path) {
  if (path.empty()) return;
  std::error_code ignored;
  if (options.input.input != "-" && io::same_file(options.input.input, path))
    throw InvalidArgument(path + " is the input itself; choose another name");
  if (!options.input.overwrite && fs::exists(path, ignored))
    throw CannotCreate("'" + path + "' exists; give -y to overwrite it");
}

NoiseRecord noise_of(const DenoiseOptions& options) {
  io::SourceOptions given = source_options(options);
  given.threads = options.threads;
  given.pass_damage = true;
  const auto source = io::open_source(options.input, given);
  check_volume_noise(options, source->info());
  if (can_read_again(options.input)) {
    NoiseRecord found = search_noise(options, *source);
    write_noise_map(options, *source, found);
    return found;
  }
  return noise_of_first(options, read_some(*source, ahead_of(options)), source->info().values);
}

}  // namespace

int noise(const NoiseOptions& options) {
  const DenoiseOptions& input = options.input;
  check_output(options, input.output);
  check_output(options, options.plot);
  check_output(options, input.noise_map);
  if (!input.noise_file.empty())
    throw InvalidArgument("--noise " + input.noise_file +
                          " (must be gaussian, rician or auto); lull noise looks for its level");
  if (!options.plot.empty() && options.plot == input.output)
    throw InvalidArgument(options.plot + " is named twice; choose another name for the plot");
  const NoiseRecord found = noise_of(input);
  if (!input.output.empty()) write_noise(input.output, found, input.overwrite);
  if (!options.plot.empty()) {
    const std::string name = input.input == "-" ? "standard input" : input.input;
    io::write_text(options.plot, plot(found, one_line(name)), input.overwrite);
  }
  if (options.json) {
    std::printf("%s\n", to_json(found).c_str());
    return 0;
  }
  for (const std::string& line : describe(found)) std::printf("noise: %s\n", line.c_str());
  return 0;
}

}  // namespace lull::tools
