// Fuzzes a segment file that is longer or shorter than recorded, or has damage that its checksum
// does not reveal.

#include <algorithm>
#include <cstring>

#include "fuzz/fuzz.h"
#include "io/segments/segment_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull;
  const fuzz::MemoryFile file(data, size);
  io::Sha256 digest;
  digest.add(data, size - std::min<std::size_t>(size, 64));  // the rest of the size
  io::SegmentRecord record{.bytes = static_cast<std::int64_t>(size), .sha256 = digest.take()};
  if (size >= 72) std::memcpy(&record.frames, data + size - 72, 8);
  if (size % 7 == 1) record.bytes += 100;
  if (size % 7 == 2) record.bytes -= 1;
  fuzz::expect_errors([&] {
    io::SegmentReader reader(file.path(), record);
    while (reader.next() != nullptr) {
    }
  });
  (void)io::read_record(file.path());
  return 0;
}
