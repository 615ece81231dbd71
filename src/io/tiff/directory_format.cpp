#include "io/tiff/directory_format.h"

#include <unistd.h>

#include "core/error.h"

namespace lull::io {

void write_to_tiff(int descriptor, std::uint64_t at, std::span<const std::uint8_t> data) {
  if (::pwrite(descriptor, data.data(), data.size(), static_cast<off_t>(at)) !=
      static_cast<ssize_t>(data.size()))
    throw IoError("cannot write the tags of a TIFF file (the disk may be full)");
}

std::uint64_t append_to_tiff(int descriptor, std::span<const std::uint8_t> data) {
  auto end = static_cast<std::uint64_t>(::lseek(descriptor, 0, SEEK_END));
  end += end % 2;
  write_to_tiff(descriptor, end, data);
  return end;
}

}  // namespace lull::io
