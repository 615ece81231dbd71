#pragma once
// libtiff's files: owners, errors as ours, and a page's samples.

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

/// What the pages of a stack have in common.
struct TiffPage {
  int width = 0, height = 0;
  StoredType type = StoredType::u8;
  bool operator==(const TiffPage&) const = default;
};

/// For how many pictures ImageJ's description of a page speaks; 1 where there is none.
std::uint64_t described_pictures(tiff* page);

/// Whether a file is TIFF with several pages, or one page of grey samples that FFmpeg's pictures do
/// not have (other than 8 or 16 bits unsigned and half floats), or one that speaks for several.
/// False for what cannot be read.
bool is_tiff_stack(const std::string& path);

/// Why the first page of a TIFF file cannot be whole, empty if it can: a directory or samples
/// beyond the file's end.
std::string find_tiff_truncation(const std::string& path);
/// Whether there are pages after the first. False for what cannot be read.
bool has_more_tiff_pages(const std::string& path);

/// A file to read, at its first page.
class TiffReader {
 public:
  /// `max_samples`: of a page; more is an error. @throws NoInput, BadData
  TiffReader(const std::string& path, std::uint64_t max_samples);
  ~TiffReader();
  TiffReader(const TiffReader&) = delete;
  TiffReader& operator=(const TiffReader&) = delete;

  tiff* handle() const { return tiff_.get(); }
  bool big_endian() const;
  /// With 64-bit offsets.
  bool big_tiff() const;
  /// @throws BadData  a page that is no picture of one grey plane of a type of StoredType
  TiffPage page() const;
  /// On to the next page; false behind the last. @throws BadData
  bool next();
  void rewind();
  /// The page's samples in this machine's byte order. With `check`, every strip is decoded to its
  /// end first, which takes as long again: libtiff itself stops before a checksum.
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
  mutable std::string message_;  // libtiff's last
  int page_ = 0;
  std::unique_ptr<tiff, Close> tiff_;
};

/// A file to write, page after page.
class TiffWriter {
 public:
  TiffWriter(OutputFile& file, bool big_endian, bool big_tiff);
  ~TiffWriter();
  TiffWriter(const TiffWriter&) = delete;
  TiffWriter& operator=(const TiffWriter&) = delete;

  /// Copies what the reader's page says about itself, apart from its samples, to the page to be
  /// written: all tags but those that lead to other places of the file. Lossy codecs become
  /// Deflate. Gives what was left out or changed, one text each.
  std::vector<std::string> copy_tags(const TiffReader& from, const TiffPage& page);
  /// The samples of a page whose tags are set; changes their byte order on the way.
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
