// Fuzzes the tags and samples of a DNG file, which is read as a raw photograph and written again.

#include "fuzz/fuzz.h"
#include "io/raw/dng_tags.h"
#include "io/raw/raw_picture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  const fuzz::MemoryFile file(data, size);
  (void)io::write_tiff_tree(io::read_tiff_tree({data, size}));
  try {
    const io::RawPicture picture = io::read_raw(file.path(), 1 << 16);
    io::DngSamples samples;
    const io::DngLevels levels{.black = {0, 0, 0, 0}, .white = 65535};
    (void)io::write_tiff_tree(io::make_dng(*picture.facts, picture.mosaic, levels, {}, samples));
  } catch (const Error&) {
  }
  return 0;
}
