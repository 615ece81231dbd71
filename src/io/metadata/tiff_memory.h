#pragma once
// Makes libtiff read and change TIFF files in memory. To read the metadata in the tags of such a
// file, call `read_tiff_tags()` in formats.h.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/tiff/tiff_library.h"

namespace lull::io {

/// A TIFF file in memory for libtiff.
class TiffMemory {
 public:
  /// Opens the file with the content `bytes`, which must outlive this object. libtiff can change
  /// the file only after a call of copy_bytes().
  explicit TiffMemory(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  TiffMemory(const TiffMemory&) = delete;
  TiffMemory& operator=(const TiffMemory&) = delete;

  /// Copies the bytes of the file, so that libtiff can change the copy.
  void copy_bytes();
  /// Opens the file for reading (mode "rm") or for changes (mode "r+m"). Returns null if the bytes
  /// are not a TIFF file. This object must outlive the result.
  TiffPtr open(const char* mode, tmsize_t max_bytes = 0);
  std::span<const std::uint8_t> bytes() const { return bytes_; }
  /// Returns libtiff's first error; empty if there is none.
  const std::string& message() const { return message_; }

 private:
  static tmsize_t read(thandle_t self, void* to, tmsize_t size);
  static tmsize_t write(thandle_t self, void* from, tmsize_t size);
  static toff_t seek(thandle_t self, toff_t offset, int whence);
  static toff_t size_of(thandle_t self);

  std::vector<std::uint8_t> written_;
  std::span<const std::uint8_t> bytes_;  // after copy_bytes(): refers to `written_`
  std::size_t at_ = 0;
  std::string message_;
};

}  // namespace lull::io
