#pragma once
// Reading of regular files. Pipes, devices and folders are refused before they are opened: the
// files that other people provide must neither block a process nor have no end.

#include <cstddef>
#include <cstdint>
#include <string>

namespace lull::io {

class RegularFile {
 public:
  /// @throws NoInput  there is no such file, it is not a regular file, or it cannot be opened
  /// @throws IoError  the failure may be temporary
  explicit RegularFile(const std::string& path);
  ~RegularFile();
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&&) = delete;

  /// The size in bytes when the file was opened.
  std::int64_t size() const { return size_; }
  /// Reads `bytes` bytes, or fewer where the file ends. @throws IoError
  std::size_t read(void* data, std::size_t bytes);
  /// The next read begins at this byte.
  void seek(std::int64_t position);

 private:
  [[noreturn]] void refuse(const std::string& kind) const;
  [[noreturn]] void fail(int error) const;

  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace lull::io
