#pragma once
// A temporary file for bytes that do not fit in memory. The file has no name. The system removes
// the file when the program destroys the object or the process ends.

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.h"

namespace lull::io {

/// Returns the folder that the system uses for temporary files.
[[nodiscard]] std::string scratch_folder();
/// Opens a file without a name in `folder`, and returns its descriptor.
/// @throws IoError
[[nodiscard]] int open_scratch(const std::string& folder);
/// Returns the error for a failed operation on a file that `open_scratch()` opened. `what` is the
/// name of the operation, for example "write". `number` is the value of errno.
[[nodiscard]] IoError scratch_error(const std::string& folder, const std::string& what, int number);

/// A queue of bytes in a file. `read()` returns the bytes in the order in which `write()` stored
/// them.
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
  /// Reads and removes the next bytes of the queue.
  /// @throws IoError  the disk fails, or the queue has fewer bytes
  void read(void* data, std::size_t bytes);
  /// Reads bytes at a position, counted from the first byte after the creation of the object or
  /// after `clear()`. A caller of this function must not call `read()`, which discards bytes.
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
