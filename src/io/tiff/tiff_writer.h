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

/// Differences between an output page and the original page, one string for each difference.
struct TiffChanges {
  std::vector<std::string> losses;
  std::vector<std::string> notes;  // changes that lose no information
};

class TiffWriter {
 public:
  /// Writes to the open file `descriptor`, which the caller must close. `name` is the name of the
  /// file in messages.
  TiffWriter(int descriptor, const std::string& name, bool big_endian, bool big_tiff);
  ~TiffWriter();
  TiffWriter(const TiffWriter&) = delete;
  TiffWriter& operator=(const TiffWriter&) = delete;

  TIFF* handle() const { return tiff_.get(); }
  /// Copies the tags of the reader's page to the next page, including EXIF and GPS data, but
  /// without sub-images and Photoshop layers. The next page keeps the strips or tiles and the codec
  /// of the reader's page, but Deflate replaces a lossy codec. The tags about samples describe
  /// `layout`.
  TiffChanges copy_tags(const TiffReader& from, const TiffLayout& from_layout,
                        const TiffLayout& layout);
  /// Announces that the caller writes the next page, and then `count` smaller pyramid levels
  /// (sub-images) of this page. The caller must have set the tags of the next page.
  void announce_levels(int count);
  /// Like copy_tags(), but for a smaller pyramid level that announce_levels() has announced.
  void copy_level_tags(const TiffReader& from, const TiffLayout& layout);
  /// Sets only the tags that describe the samples of the next page, which consists of strips with
  /// Deflate.
  void set_tags(const TiffLayout& layout);
  /// Like set_tags(), but for tiles. `is_level` is true for a pyramid level that announce_levels()
  /// has announced.
  void set_tiled_tags(const TiffLayout& layout, bool is_level);
  /// Writes a page, whose tags the caller must have set. `fill` receives zeroed samples for each
  /// strip or tile in file order.
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
  /// The texts of the repeated tags (repeated_tags.h) of each page, without the first text of each
  /// tag. libtiff itself writes the first texts.
  std::vector<std::vector<RepeatedText>> repeated_texts_;
  std::unique_ptr<OutputPosition> position_;
  TiffPtr tiff_;
};

/// The text in TiffChanges::losses about sub-images.
inline constexpr const char* lost_sub_images = "the sub-images of TIFF pages";

/// Returns whether a file of `pages` pages with this layout is too large for 32-bit offsets, and
/// must be BigTIFF.
bool needs_big_tiff(const TiffLayout& layout, std::int64_t pages);

}  // namespace lull::io
