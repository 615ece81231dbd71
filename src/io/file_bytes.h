#pragma once
// A file's bytes at will, for the checks of its structure.

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace lull::io {

/// What lies beyond the end reads as failure.
class Bytes {
 public:
  Bytes(const std::string& path, std::uint64_t size) : file_(path, std::ios::binary), size_(size) {}

  std::uint64_t size() const { return size_; }
  bool read(std::uint64_t at, void* to, std::size_t count) {
    if (at > size_ || count > size_ - at) return false;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    return static_cast<bool>(
        file_.read(static_cast<char*>(to), static_cast<std::streamsize>(count)));
  }

 private:
  std::ifstream file_;
  std::uint64_t size_;
};

inline std::uint64_t big_endian(const std::uint8_t* p, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | p[i];
  return value;
}

inline std::string ends_early(std::string_view what, std::uint64_t promised, std::uint64_t size) {
  return std::string(what) + " ends at byte " + std::to_string(promised) + ", the file at " +
         std::to_string(size);
}

/// Why a TIFF file cannot be whole, empty if it can: samples or directories beyond its end.
std::string check_tiff(Bytes& file);
/// Where the directory of the second page of a TIFF file begins, 0 if there is none.
std::uint64_t second_page(Bytes& file);

}  // namespace lull::io
