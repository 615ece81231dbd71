// Fuzzes a Y4M pipe as with `-i - -o -`: complete, damaged or in parts.

#include "fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  const fuzz::MemoryFile file(data, size);
  // Settings that the input bytes do not contain are derived from the number of bytes.
  io::SourceOptions options{.threads = 1, .format = "y4m"};
  options.limits = {.pixels = 1 << 14, .frames = 0, .streams = 4};
  options.tolerate_damage = size % 2 != 0;
  options.refuse_interlaced = size % 8 == 3;
  if (size % 3 == 1) options.selection.ranges = {{1, 1}, {3, io::FrameRange{}.last}};
  if (size % 3 == 2) {
    options.selection.start_us = 40000;
    options.selection.duration_us = static_cast<std::int64_t>(size) * 1000;
  }
  // lull seeks in a file and checks it for a truncation. It does neither for a pipe.
  const bool pipe = size % 5 != 0;
  options.descriptor = file.rewound();
  fuzz::copy_some([&] { return io::open_source(pipe ? "-" : file.path(), options); },
                  [&](io::MediaSource& source) { return fuzz::open_pipe_sink(source, "y4m"); }, 8);
  return 0;
}
