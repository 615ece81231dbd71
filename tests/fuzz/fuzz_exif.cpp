// Fuzzes EXIF data in the form in which photos contain them.

#include "fuzz/fuzz.h"
#include "fuzz/fuzz_photo.h"
#include "io/metadata/exif.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  io::PictureMetadata metadata;
  metadata.exif.assign(data, data + size);
  metadata.orientation = io::read_exif(metadata.exif).orientation;
  metadata.texts.push_back({"Title", "text", {}, {}});
  fuzz::embed_everywhere(metadata);
  return 0;
}
