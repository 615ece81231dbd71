#pragma once
// Reads the pages of TIFF files with libtiff, strip by strip or tile by tile.

#include <cstddef>
#include <functional>
#include <string>

#include "io/tiff/tiff_layout.h"

namespace lull::io {

/// A strip or a tile: samples in native byte order, and position in the page. TiffReader provides
/// the samples, and TiffWriter requests them.
template <class Byte>
struct TiffChunk {
  Byte* data;             // first row
  std::size_t row_bytes;  // distance between rows in bytes
  int x, y, width, height;
  int first_sample;  // index in the pixel of the first sample in the chunk
  int samples;       // number of samples of a pixel in the chunk
  Byte* row(int y_in_chunk) const { return data + y_in_chunk * row_bytes; }
};

/// Reads the pages of a TIFF file, beginning with the first page.
class TiffReader {
 public:
  /// @param max_pixels  maximum number of pixels of a page
  /// @throws NoInput, BadData
  TiffReader(const std::string& path, std::uint64_t max_pixels);
  TiffReader(const TiffReader&) = delete;
  TiffReader& operator=(const TiffReader&) = delete;

  TIFF* handle() const { return tiff_.get(); }
  const std::string& path() const { return path_; }
  bool big_endian() const { return TIFFIsBigEndian(tiff_.get()) != 0; }
  /// Returns whether the file has 64-bit offsets.
  bool big_tiff() const { return TIFFIsBigTIFF(tiff_.get()) != 0; }
  /// Returns the layout of the current page. The function first checks size and codec, so that the
  /// caller can safely allocate memory for the page.
  /// @throws BadData  lull does not support the samples, or the file is too small for them
  TiffLayout layout() const;
  /// Makes the next page the current page. Returns false after the last page.
  /// @throws BadData
  bool next();
  /// Proceeds to the next page that is neither a reduced copy of a picture nor a mask. Returns
  /// false after the last page.
  bool next_picture();
  /// Makes the page at the byte offset `directory` (TIFFCurrentDirOffset()) the current page.
  /// `page` is the page number in messages.
  /// @throws BadData
  void go_to(std::uint64_t directory, std::int64_t page);
  /// Calls `use` for each strip or tile of the page in row order. If the planes are separate, the
  /// function reads plane by plane. If `check` is true, another thread verifies the checksums of
  /// Deflate.
  /// @throws BadData
  void read(const TiffLayout& layout,
            const std::function<void(const TiffChunk<const std::uint8_t>&)>& use,
            bool check = true);
  /// Throws the error "'PATH' <what> (<libtiff's reason>)".
  /// @throws BadData
  [[noreturn]] void fail(const std::string& what) const;
  /// Throws the error "'PATH' has <what>; convert it first", with the page number for pages after
  /// the first.
  /// @throws BadData
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
