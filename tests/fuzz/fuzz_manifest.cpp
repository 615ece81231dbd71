// Fuzzes the lines of a job's manifest. The target appends the checksum that makes the lines valid.

#include <string>

#include "fuzz/fuzz.h"
#include "io/files/sha256.h"
#include "io/segments/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull::io;
  std::string text(reinterpret_cast<const char*>(data), size);
  (void)parse_manifest(text);
  Sha256 digest;
  digest.add(text.data(), text.size());
  text += "sha256 " + digest.take() + "\n";
  const std::optional<Manifest> manifest = parse_manifest(text);
  if (!manifest) return 0;
  // A manifest that was parsed must be equal after writing and parsing it again.
  const std::string written = to_text(*manifest);
  const std::optional<Manifest> again = parse_manifest(written);
  if (!again || to_text(*again) != written)
    throw std::logic_error("a manifest changes when it is written");
  return 0;
}
