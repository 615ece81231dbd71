#pragma once
// Helpers for libtiff: an owner for its files, messages as text, and files in memory.

#include <tiffio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lull::io {

struct CloseTiff {
  void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
};
using TiffPtr = std::unique_ptr<TIFF, CloseTiff>;

struct FreeTiffOptions {
  void operator()(TIFFOpenOptions* options) const noexcept { TIFFOpenOptionsFree(options); }
};
using TiffOptionsPtr = std::unique_ptr<TIFFOpenOptions, FreeTiffOptions>;

/// Returns options with which libtiff opens a file. The first error is stored in `message`, because
/// it is closest to the cause; warnings are ignored. `message` must outlive the file. `max_bytes`
/// limits a single allocation of libtiff; 0: no limit.
TiffOptionsPtr tiff_options(std::string& message, tmsize_t max_bytes);

/// A TIFF file in memory.
class TiffMemory {
 public:
  /// For a file to write.
  TiffMemory() = default;
  /// For a file to read. Refers to `bytes`.
  explicit TiffMemory(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  TiffMemory(const TiffMemory&) = delete;
  TiffMemory& operator=(const TiffMemory&) = delete;

  /// Copies a file that libtiff will change.
  void assign(std::span<const std::uint8_t> file);
  /// Opens the file for reading ("rm"), writing ("wm") or changing ("r+m"). Returns null if it is
  /// not a TIFF file. This object must outlive the result.
  TiffPtr open(const char* mode, tmsize_t max_bytes = 0);
  std::span<const std::uint8_t> bytes() const { return bytes_; }
  /// Returns libtiff's first error since the last clear(); empty if there is none.
  const std::string& message() const { return message_; }
  std::string& message() { return message_; }

 private:
  static tmsize_t read(thandle_t self, void* to, tmsize_t size);
  static tmsize_t write(thandle_t self, void* from, tmsize_t size);
  static toff_t seek(thandle_t self, toff_t offset, int whence);
  static toff_t size_of(thandle_t self);

  std::vector<std::uint8_t> written_;
  std::span<const std::uint8_t> bytes_;  // when writing: refers to `written_`
  std::size_t at_ = 0;
  std::string message_;
};

}  // namespace lull::io
