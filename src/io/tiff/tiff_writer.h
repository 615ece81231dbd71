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

/// Differences between an output page and the page from which its tags were copied, one text each.
struct TiffChanges {
  std::vector<std::string> losses;
  std::vector<std::string> notes;  // changes that lose no information
};

class TiffWriter {
 public:
  /// Writes to the open file `descriptor`, which the caller must close. `name` is its name in
  /// messages.
  TiffWriter(int descriptor, const std::string& name, bool big_endian, bool big_tiff);
  ~TiffWriter();
  TiffWriter(const TiffWriter&) = delete;
  TiffWriter& operator=(const TiffWriter&) = delete;

  TIFF* handle() const { return tiff_.get(); }
  /// Sets the tags of the next page: those that describe its samples, and copies of the other tags
  /// of the reader's page, including EXIF and GPS data, but without sub-images. The page gets the
  /// strips or tiles and the codec of the reader's page, but Deflate instead of a lossy codec.
  TiffChanges copy_tags(const TiffReader& from, const TiffLayout& from_layout,
                        const TiffLayout& layout);
  /// States that the `count` pages after the next page are its smaller copies (sub-images). The
  /// tags of the next page must be set.
  void announce_levels(int count);
  /// Sets the tags of a smaller copy, as copy_tags() does.
  void copy_level_tags(const TiffReader& from, const TiffLayout& layout);
  /// Sets only the tags that describe the samples of the next page. The page gets strips with
  /// Deflate.
  void set_tags(const TiffLayout& layout);
  /// Sets the same tags as set_tags(), but the page gets tiles. With `is_level`, the page is a
  /// smaller copy that announce_levels() has announced.
  void set_tiled_tags(const TiffLayout& layout, bool is_level);
  /// Writes a page whose tags have been set. The writer calls `fill` for each strip or tile, in the
  /// order of the file, to write the samples; all bytes are 0 before.
  /// @throws IoError
  void write(const TiffLayout& layout,
             const std::function<void(const TiffChunk<std::uint8_t>&)>& fill);
  /// Completes the file.
  /// @throws IoError
  void close();

 private:
  struct OutputPosition;
  int descriptor() const;
  bool copy_further_tag(TIFF* from, std::uint32_t tag);
  bool copy_directory(const TiffReader& reader, const TiffLayout& layout, std::uint32_t tag);
  [[noreturn]] void fail() const;

  std::string name_;
  DirectoryFormat format_;  // TIFFIsBigTIFF() is wrong for a big-endian file while it is written
  std::string message_;
  std::list<std::string> tag_names_;  // libtiff keeps pointers to these names
  /// The texts of repeated tags for each page. libtiff writes only the first text of a tag.
  std::vector<std::vector<RepeatedText>> repeated_texts_;
  std::unique_ptr<OutputPosition> position_;
  TiffPtr tiff_;
};

/// The text in TiffChanges::losses for sub-images.
inline constexpr const char* lost_sub_images = "the sub-images of TIFF pages";

/// Returns whether a file of `pages` pages with this layout needs BigTIFF, which has 64-bit
/// offsets.
bool needs_big_tiff(const TiffLayout& layout, std::int64_t pages);

}  // namespace lull::io
