// Fuzzes headerless samples that are described by options as a user writes them. The first line of
// the input is "--raw-format gray --size 4x4 ...", separated by spaces; the pipe's data follow.

#include <algorithm>
#include <sstream>

#include "fuzz/fuzz.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"

namespace {

using namespace lull;

/// Returns the options that the rows of the option table produce from "NAME VALUE NAME VALUE ...".
io::SourceOptions options_in(const std::string& line) {
  tools::DenoiseOptions options;
  std::istringstream words(line);
  for (std::string name, value; words >> name >> value;)
    for (const tools::OptionRow& row : tools::options_for(tools::in_probe))
      if (row.names == name) row.apply(options, value);
  io::SourceOptions source = tools::source_options(options.input);
  source.threads = 1;
  source.protocols.clear();
  source.limits.pixels = std::min<std::int64_t>(source.limits.pixels, 1 << 14);
  source.limits.streams = std::min(source.limits.streams, 4);
  // Other containers would fuzz FFmpeg's own demuxers, not lull.
  if (!source.raw) source.format = "y4m";
  return source;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::uint8_t* end = std::find(data, data + size, '\n');
  const std::string line(data, end);
  const std::uint8_t* samples = end == data + size ? end : end + 1;
  const fuzz::MemoryFile file(samples, static_cast<std::size_t>(data + size - samples));
  fuzz::copy_some(
      [&] {
        io::SourceOptions options = options_in(line);
        options.descriptor = file.rewound();
        options.tolerate_damage = size % 2 != 0;
        return io::open_source(size % 3 != 0 ? "-" : file.path(), options);
      },
      [&](io::MediaSource& source) {
        return fuzz::open_pipe_sink(source, size % 2 != 0 ? "raw" : "");
      },
      8);
  return 0;
}
