#pragma once
// Random access to the bytes of a file, for checks of the file's structure.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace lull::io {

/// Reads bytes of a file at random positions, with read-ahead for small sequential reads. A read
/// beyond the end of the file fails.
class FileBytes {
 public:
  FileBytes(const std::string& path, std::uint64_t size)
      : file_(path, std::ios::binary), size_(size) {}

  std::uint64_t size() const { return size_; }
  bool read(std::uint64_t at, void* to, std::size_t count) {
    if (at > size_ || count > size_ - at) return false;
    if (count > max_window_bytes) return read_file(at, static_cast<char*>(to), count);
    if (at < begin_ || at + count > begin_ + window_.size()) {
      begin_ = at;
      window_.resize(std::min<std::uint64_t>(max_window_bytes, size_ - at));
      if (!read_file(at, window_.data(), window_.size())) {
        window_.clear();
        return false;
      }
    }
    std::copy_n(window_.data() + (at - begin_), count, static_cast<char*>(to));
    return true;
  }

 private:
  static constexpr std::size_t max_window_bytes = 1 << 16;

  bool read_file(std::uint64_t at, char* to, std::size_t count) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    return static_cast<bool>(file_.read(to, static_cast<std::streamsize>(count)));
  }

  std::ifstream file_;
  std::uint64_t size_;
  std::uint64_t begin_ = 0;  // position of the buffered bytes in the file
  std::vector<char> window_;
};

inline std::uint64_t big_endian(const std::uint8_t* p, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | p[i];
  return value;
}

inline std::string truncation_text(std::string_view what, std::uint64_t promised,
                                   std::uint64_t size) {
  return std::string(what) + " ends at byte " + std::to_string(promised) + ", the file at " +
         std::to_string(size);
}

}  // namespace lull::io
