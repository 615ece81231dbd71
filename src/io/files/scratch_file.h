#pragma once
// A temporary file for bytes that do not fit in memory. The file has no name and disappears when
// the object is destroyed or the process ends.

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.h"

namespace lull::io {

/// Returns the system's folder for temporary files.
[[nodiscard]] std::string scratch_folder();
/// Opens a file without a name in this folder, and returns its descriptor.
/// @throws IoError
[[nodiscard]] int open_scratch(const std::string& folder);
/// Returns the error for a failed operation on a file of open_scratch(). `what` names the operation
/// ("write"), and `number` is errno.
[[nodiscard]] IoError scratch_error(const std::string& folder, const std::string& what, int number);

/// A queue of bytes in a file: first in, first out.
class ScratchFile {
 public:
  /// The file is created at the first write. An empty `folder` stands for the system's folder for
  /// temporary files.
  explicit ScratchFile(std::string folder) : folder_(std::move(folder)) {}
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// Appends bytes to the queue.
  /// @throws IoError
  void write(const void* data, std::size_t bytes);
  /// Reads the next bytes that have not been read yet.
  /// @throws IoError  the disk fails, or the queue has fewer bytes
  void read(void* data, std::size_t bytes);
  /// Reads bytes at a position. Position 0 is the first byte that was written after the creation of
  /// the object or after clear(). The caller must not call read() on the same object, because
  /// read() discards bytes.
  /// @throws IoError  the disk fails, or the file has fewer bytes
  void read_from(std::int64_t position, void* data, std::size_t bytes);
  std::int64_t left() const { return end_ - begin_; }
  /// Discards all bytes that have not been read.
  void clear() noexcept;

 private:
  void create();
  [[noreturn]] void fail(const std::string& what) const;

  std::string folder_;
  int descriptor_ = -1;
  std::int64_t begin_ = 0, end_ = 0;
};

}  // namespace lull::io
