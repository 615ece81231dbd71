#pragma once
// Reads regular files. The reader rejects pipes and devices before it opens them, because opening a
// pipe could block, and reading a device could never end.

#include <cstddef>
#include <cstdint>
#include <string>

namespace lull::io {

class RegularFile {
 public:
  /// Opens a regular file.
  /// @throws NoInput  the file does not exist or is not a regular file, or lull cannot open it
  /// @throws IoError  the system cannot open the file now, but may succeed later
  explicit RegularFile(const std::string& path);
  ~RegularFile();
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&&) = delete;

  /// Returns the size in bytes at the time of opening.
  std::int64_t size() const { return size_; }
  /// Reads `bytes` bytes, or fewer at the end of the file. Returns the number of bytes read.
  /// @throws IoError
  std::size_t read(void* data, std::size_t bytes);
  /// Sets the position of the next read.
  void seek(std::int64_t position);

 private:
  [[noreturn]] void refuse(const std::string& kind) const;
  [[noreturn]] void fail(int error) const;

  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace lull::io
