#pragma once
// Writes TIFF files with libtiff, page by page.

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "io/files/output_file.h"
#include "io/tiff/directory_format.h"
#include "io/tiff/repeated_tags.h"
#include "io/tiff/tiff_reader.h"

namespace lull::io {

/// What a page does not have in common with the page whose tags it got; one text each.
struct TiffChanges {
  std::vector<std::string> losses;
  std::vector<std::string> notes;  // changes that lose nothing
};

class TiffWriter {
 public:
  /// Writes to an open file, which the caller closes. `name` is for messages.
  TiffWriter(int descriptor, const std::string& name, bool big_endian, bool big_tiff);
  ~TiffWriter();
  TiffWriter(const TiffWriter&) = delete;
  TiffWriter& operator=(const TiffWriter&) = delete;

  TIFF* handle() const { return tiff_.get(); }
  /// Sets the tags of the next page: those that describe its samples, and all tags of the reader's
  /// page that do not describe samples, with EXIF and GPS data. Strips or tiles and a
  /// lossless codec are those of the reader's page. Other codecs become Deflate.
  TiffChanges copy_tags(const TiffReader& from, const TiffLayout& from_layout,
                        const TiffLayout& layout);
  /// Sets the tags of the next page that describe its samples: strips with Deflate.
  void set_tags(const TiffLayout& layout);
  /// Writes a page whose tags are set. `fill` gets each chunk in order, filled with 0, and writes
  /// its samples.
  /// @throws IoError
  void write(const TiffLayout& layout,
             const std::function<void(const TiffChunk<std::uint8_t>&)>& fill);
  /// @throws IoError
  void close();

 private:
  struct OutputPosition;
  int descriptor() const;
  bool copy_further_tag(TIFF* from, std::uint32_t tag);
  bool copy_directory(const TiffReader& reader, const TiffLayout& layout, std::uint32_t tag);
  [[noreturn]] void fail() const;

  std::string name_;
  DirectoryFormat format_;  // TIFFIsBigTIFF() is wrong for a big-endian file that is written
  std::string message_;
  std::list<std::string> tag_names_;  // libtiff keeps pointers to them
  /// Texts of each page whose tags libtiff writes only once.
  std::vector<std::vector<RepeatedText>> repeated_texts_;
  std::unique_ptr<OutputPosition> position_;
  TiffPtr tiff_;
};

/// Returns whether only BigTIFF, which has offsets of more than 32 bits, can hold `pages` pages.
bool needs_big_tiff(const TiffLayout& layout, std::int64_t pages);

}  // namespace lull::io
