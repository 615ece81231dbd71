#pragma once
// Reads the pages of TIFF files with libtiff, strip by strip or tile by tile.

#include <cstddef>
#include <functional>
#include <string>

#include "io/tiff/tiff_layout.h"

namespace lull::io {

/// The part of a page that one strip or tile shows, with its samples in native byte order.
/// TiffWriter requests chunks with this struct, too.
template <class Byte>
struct TiffChunk {
  Byte* data;             // first row
  std::size_t row_bytes;  // distance of rows
  int x, y, width, height;
  int first_sample;  // number of the first sample of a pixel that the chunk holds
  int samples;       // samples of a pixel in the chunk
  Byte* row(int y_in_chunk) const { return data + y_in_chunk * row_bytes; }
};

/// Reads the pages of a file, beginning with the first.
class TiffReader {
 public:
  /// `max_pixels` is the maximum size of a page.
  /// @throws NoInput, BadData
  TiffReader(const std::string& path, std::uint64_t max_pixels);
  TiffReader(const TiffReader&) = delete;
  TiffReader& operator=(const TiffReader&) = delete;

  TIFF* handle() const { return tiff_.get(); }
  const std::string& path() const { return path_; }
  bool big_endian() const { return TIFFIsBigEndian(tiff_.get()) != 0; }
  /// Returns whether the file has 64-bit offsets.
  bool big_tiff() const { return TIFFIsBigTIFF(tiff_.get()) != 0; }
  /// Returns the layout of the page. Size and codec are checked: memory for the page can be
  /// allocated.
  /// @throws BadData  samples that lull does not support, or more samples than the file can hold
  TiffLayout layout() const;
  /// Goes to the next page. Returns false after the last one.
  /// @throws BadData
  bool next();
  /// Like next(), but skips smaller copies of a picture and masks.
  bool next_picture();
  /// Goes to a page by the byte offset of its directory (TIFFCurrentDirOffset()). `page` is its
  /// number, for messages.
  /// @throws BadData
  void go_to(std::uint64_t directory, std::int64_t page);
  /// Calls `use` for each chunk of the page, sample by sample if they are separate, in rows.
  /// `check` verifies checksums, too, in another thread.
  /// @throws BadData
  void read(const TiffLayout& layout,
            const std::function<void(const TiffChunk<const std::uint8_t>&)>& use,
            bool check = true);
  /// @throws BadData  "'PATH' <what> (<libtiff's reason>)"
  [[noreturn]] void fail(const std::string& what) const;
  /// @throws BadData  "'PATH' has <what>; convert it first", with the number of a later page
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  using Use = std::function<void(const TiffChunk<const std::uint8_t>&)>;
  TiffPtr open(std::string& message) const;
  [[noreturn]] void fail_damaged() const;
  void read_chunks(const TiffLayout& layout, const Use& use);
  void read_converted(const TiffLayout& layout, const Use& use);
  std::string find_wrong_checksum(std::uint64_t directory);

  std::string path_;
  std::uint64_t max_pixels_, file_bytes_ = 0;
  mutable std::string message_;  // the first message of libtiff
  std::string checker_message_;
  std::int64_t page_ = 0;
  TiffPtr tiff_, checker_;  // the checker reads the same file in another thread
};

}  // namespace lull::io
