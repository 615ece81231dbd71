#pragma once
// Reads and writes at a file position. The functions repeat the system call until they have
// transferred all bytes.

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace lull::io {

/// Reads the `bytes` bytes that begin at the file offset `position`. On an error, the function
/// returns false and sets errno (EIO at the end of the file).
inline bool read_at(int descriptor, void* data, std::size_t bytes, off_t position) {
  for (auto* to = static_cast<char*>(data); bytes > 0;) {
    errno = EIO;
    const ssize_t count = ::pread(descriptor, to, bytes, position);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    to += count;
    position += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

/// Writes all bytes from `position` on. On an error, the function returns false and sets errno.
inline bool write_at(int descriptor, const void* data, std::size_t bytes, off_t position) {
  for (const auto* from = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t count = ::pwrite(descriptor, from, bytes, position);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    from += count;
    position += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace lull::io
