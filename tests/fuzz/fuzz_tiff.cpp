// A TIFF file as a stack: pages and tags.

#include "fuzz/fuzz.h"
#include "io/stacks/stack.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  const fuzz::MemoryFile file(data, size);
  (void)io::stack_kind(file.path(), {});
  fuzz::copy_some([&] { return io::open_tiff_source(file.path(), {}); },
                  [&](io::MediaSource& source) {
                    return io::open_tiff_sink(fuzz::output_name(".tif"), source, {});
                  },
                  8);
  return 0;
}
