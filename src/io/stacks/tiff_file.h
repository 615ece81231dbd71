#pragma once
// Owners of libtiff's files, with exceptions for errors, and access to the samples of pages.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "io/files/output_file.h"
#include "io/stacks/stack_samples.h"

struct tiff;

namespace lull::io {

/// Properties that all pages of a stack have in common.
struct TiffPage {
  int width = 0, height = 0;
  StoredType type = StoredType::u8;
  bool operator==(const TiffPage&) const = default;
};

/// Returns the number of pictures in ImageJ's description of a page; 1 if there is none.
std::uint64_t described_pictures(tiff* page);

/// Returns whether a file is TIFF with several pages, or with one page that describes several
/// pictures or has grey samples other than 8- or 16-bit unsigned integers and half floats (which
/// FFmpeg's pictures cannot hold). False for files that cannot be read.
bool is_tiff_stack(const std::string& path);

/// Returns why the first page of a TIFF file cannot be complete: a directory or samples beyond the
/// end of the file. Empty if it can.
std::string find_tiff_truncation(const std::string& path);
/// Returns whether there are pages after the first. False for files that cannot be read.
bool has_more_tiff_pages(const std::string& path);

/// Reads the pages of a file, beginning with the first.
class TiffReader {
 public:
  /// `max_samples` is the maximum number of samples of a page.
  /// @throws NoInput, BadData
  TiffReader(const std::string& path, std::uint64_t max_samples);
  ~TiffReader();
  TiffReader(const TiffReader&) = delete;
  TiffReader& operator=(const TiffReader&) = delete;

  tiff* handle() const { return tiff_.get(); }
  bool big_endian() const;
  /// Returns whether the file has 64-bit offsets.
  bool big_tiff() const;
  /// @throws BadData  the page is not a picture of one grey plane of a type of StoredType
  TiffPage page() const;
  /// Goes to the next page. Returns false after the last one.
  /// @throws BadData
  bool next();
  void rewind();
  /// Reads the page's samples in native byte order. With `check`, every strip is first decoded to
  /// its end, which takes the same time again: libtiff itself stops before a checksum.
  /// @throws BadData
  void read(const TiffPage& page, std::vector<std::byte>& samples, bool check = true);
  /// @throws BadData  "'PATH' <what> (<libtiff's reason>)"
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void read_strips(const TiffPage& page, std::vector<std::byte>& samples);
  void read_tiles(const TiffPage& page, std::vector<std::byte>& samples);

  struct Close {
    void operator()(tiff* file) const noexcept;
  };
  std::string path_;
  std::uint64_t max_samples_;
  std::uint64_t file_bytes_ = 0;
  mutable std::string message_;  // the first message of libtiff
  int page_ = 0;
  std::unique_ptr<tiff, Close> tiff_;
};

/// Writes a file, page after page.
class TiffWriter {
 public:
  TiffWriter(OutputFile& file, bool big_endian, bool big_tiff);
  ~TiffWriter();
  TiffWriter(const TiffWriter&) = delete;
  TiffWriter& operator=(const TiffWriter&) = delete;

  /// Copies all tags of the reader's page to the next page, except those that describe its samples
  /// or refer to other parts of the file. Lossy codecs become Deflate. Returns what was omitted or
  /// changed, one text each.
  std::vector<std::string> copy_tags(const TiffReader& from, const TiffPage& page);
  /// Writes the samples of a page whose tags are set. Changes the byte order of `samples`.
  /// @throws IoError
  void write(const TiffPage& page, std::vector<std::byte>& samples);
  /// @throws IoError
  void close();

 private:
  struct OutputPosition;
  struct Close {
    void operator()(tiff* file) const noexcept;
  };
  void write_strips(const TiffPage& page, std::vector<std::byte>& samples);
  void write_tiles(const TiffPage& page, const std::vector<std::byte>& samples);
  bool copy_further_tag(tiff* from, std::uint32_t tag);
  [[noreturn]] void fail() const;

  std::string name_;
  std::string message_;
  std::list<std::string> tag_names_;  // libtiff keeps pointers to them
  std::unique_ptr<OutputPosition> position_;
  std::unique_ptr<tiff, Close> tiff_;
};

}  // namespace lull::io
