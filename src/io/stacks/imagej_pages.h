#pragma once
// Reads and writes TIFF files that have a directory only for the first page. The samples of all
// pages are uncompressed and contiguous. ImageJ writes such files for stacks of more than 4 GiB,
// with the number of pages in the description. MetaMorph writes such stacks (STK) with the number
// in the tag UIC2.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/files/file_bytes.h"
#include "io/stacks/tiff_slice.h"

namespace lull::io {

class ImagejPages {
 public:
  /// @param file  a reader whose current page is the only page of the file
  /// @param layout  layout of this page
  /// @throws BadData  the samples are compressed or not contiguous, or the file is too short
  ImagejPages(const TiffReader& file, const TiffLayout& layout, std::int64_t pages);

  /// Reads the samples of a page in native byte order.
  /// @throws BadData
  void read(std::int64_t page, std::vector<std::byte>& samples);

  /// begin() returns the file offset of the first page's samples; page_bytes() returns the size of
  /// a page in bytes.
  std::uint64_t begin() const { return begin_; }
  std::uint64_t page_bytes() const { return page_bytes_; }
  bool is_swapped() const { return is_swapped_; }
  /// Size of a sample in bytes.
  int sample_bytes() const { return sample_bytes_; }

 private:
  std::string path_;
  std::int64_t pages_;
  int sample_bytes_;
  bool is_swapped_;
  std::uint64_t page_bytes_, begin_ = 0;
  FileBytes bytes_;
};

/// Writes a file with one directory. All bytes except the samples are copies of the input.
class ImagejWriter {
 public:
  /// Copies the bytes before the first page to the open file `descriptor`, which the caller must
  /// close. `name` is the name of the file in messages.
  /// @throws IoError, BadData
  ImagejWriter(int descriptor, std::string name, const std::string& input,
               const ImagejPages& pages);

  /// Writes the next page. `samples` must be in native byte order. write() may swap the bytes of
  /// `samples` in place.
  /// @throws IoError
  void write(std::span<std::byte> samples);
  /// Copies the bytes after the last page.
  /// @throws IoError, BadData
  void close();

 private:
  void copy(std::uint64_t from, std::uint64_t to);
  void append(const void* data, std::size_t bytes);

  int descriptor_;
  std::string name_, input_;
  bool is_swapped_;
  int sample_bytes_;
  FileBytes bytes_;
  std::uint64_t written_ = 0;
};

}  // namespace lull::io
