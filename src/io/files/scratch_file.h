#pragma once
// An unnamed temporary file for bytes that do not fit in memory. The file exists until the
// destruction of the object or the end of the process.

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.h"

namespace lull::io {

/// Returns the folder that the system uses for temporary files.
[[nodiscard]] std::string scratch_folder();
/// Opens an unnamed file in `folder` and returns its descriptor.
/// @throws IoError
[[nodiscard]] int open_scratch(const std::string& folder);
/// Returns the error for a failed operation `what`, such as "write", on a file from
/// `open_scratch()`. `number` is errno.
[[nodiscard]] IoError scratch_error(const std::string& folder, const std::string& what, int number);

/// A FIFO queue of bytes in a file.
class ScratchFile {
 public:
  /// @param folder  folder in which the first write creates the file; empty: the system's folder
  ///     for temporary files
  explicit ScratchFile(std::string folder) : folder_(std::move(folder)) {}
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// Appends bytes to the queue.
  /// @throws IoError
  void write(const void* data, std::size_t bytes);
  /// Reads and removes the next `bytes` bytes of the queue.
  /// @throws IoError  the disk fails, or the queue has fewer bytes
  void read(void* data, std::size_t bytes);
  /// Reads bytes at a position, counted from the creation of the object or the last `clear()`. The
  /// caller must not also use `read()`, which discards bytes.
  /// @throws IoError  the disk fails, or the file has fewer bytes
  void read_from(std::int64_t position, void* data, std::size_t bytes);
  std::int64_t left() const { return end_ - begin_; }
  /// Discards all unread bytes of the queue.
  void clear() noexcept;

 private:
  void create();
  [[noreturn]] void fail(const std::string& what) const;

  std::string folder_;
  int descriptor_ = -1;
  std::int64_t begin_ = 0, end_ = 0;
};

}  // namespace lull::io
