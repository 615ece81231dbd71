// Fuzzes the samples and tags of a TIFF file, which is read as a picture, as pages of pictures or
// as a stack.

#include "fuzz/fuzz.h"
#include "io/tiff/tiff_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  const fuzz::MemoryFile file(data, size);
  if (!io::is_tiff_file(file.path())) return 0;
  fuzz::copy_some(
      [&] { return io::open_source(file.path()); },
      [&](io::MediaSource& source) { return io::open_sink(fuzz::output_name(".tif"), source, {}); },
      8);
  return 0;
}
