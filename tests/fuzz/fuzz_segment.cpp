// The file of a segment, damaged in a way that its checksum does not show, and longer or shorter
// than it was recorded.

#include "fuzz/fuzz.h"
#include "io/segments/segment_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  const fuzz::MemoryFile file(data, size);
  io::Sha256 digest;
  digest.add(data, size);
  io::SegmentRecord record{.bytes = static_cast<std::int64_t>(size), .sha256 = digest.take()};
  if (size % 7 == 1) record.bytes += 100;
  if (size % 7 == 2) record.bytes -= 1;
  fuzz::expect_errors([&] {
    io::SegmentReader reader(file.path(), record);
    while (reader.next() != nullptr) {
    }
  });
  return 0;
}
