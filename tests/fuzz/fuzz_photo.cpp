// Fuzzes the files of photos: their metadata, and the pictures after the main picture.

#include "fuzz/fuzz_photo.h"

#include "fuzz/fuzz.h"
#include "io/metadata/multi_picture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  const io::ByteView file(data, size);
  (void)io::is_multi_picture(file);
  fuzz::embed_everywhere(io::read_metadata(file));
  return 0;
}
