#pragma once
// Converts between pages of TIFF files and FFmpeg's frames.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"
#include "io/tiff/tiff_writer.h"

namespace lull::io {

/// Returns the current page of the reader as a grey or RGB picture, with alpha if FFmpeg has a
/// suitable format.
/// - Palettes become RGB of 8 or 16 bits.
/// - Integers of up to 16 bits get the next larger bit depth of FFmpeg.
/// - Larger integers become 32-bit floats in 0..1.
/// - Floats become 32-bit floats.
/// @throws BadData  the page is damaged, or lull does not support its samples
FramePtr read_tiff_picture(TiffReader& reader);

/// Returns a list with one note if the first page has extra samples per pixel that
/// read_tiff_picture() does not read. The list is empty if there are no such samples, or if the
/// page is not readable.
std::vector<std::string> notes_of_tiff(const std::string& path);

/// Metadata for a picture that does not come from a TIFF file.
struct TiffMetadata {
  std::vector<std::uint8_t> icc, xmp, iptc;  // empty: none
  std::vector<std::uint8_t> photoshop;       // image resource blocks; empty: none
  std::uint16_t orientation = 0;             // 1..8 as in TIFF 6.0; 0: not stated
  double dots_per_inch[2] = {0, 0};          // along a row, along a column; 0: not stated
  std::vector<float>
      chromaticities;  // CIE x and y of white, red, green and blue; empty: not stated
};

/// Sets the tags of the current page for all metadata in `metadata`.
void set_metadata(TIFF* page, const TiffMetadata& metadata);

/// The original TIFF page of a picture. `page` does not count masks and reduced copies of pictures.
struct TiffOrigin {
  std::string path;  // empty: the picture has no origin
  std::int64_t page = 0;
};

/// Function that removes thumbnails from Photoshop image resource blocks.
using PhotoshopFilter = std::vector<std::uint8_t> (*)(std::span<const std::uint8_t> blocks);

/// Writes pictures as the pages of one TIFF file.
class TiffPictureWriter {
 public:
  /// Writes to the open file `descriptor`, which the caller must close. `name` is the name of the
  /// file in messages.
  TiffPictureWriter(int descriptor, const std::string& name, PhotoshopFilter filter)
      : descriptor_(descriptor), name_(name), filter_(filter) {}

  /// Adds a page. The page has the tags, extra samples, layout, codec and byte order of the page
  /// `origin`. If `origin` is empty, the page has the metadata `metadata`. All origins must be
  /// pages of the same file, in file order.
  /// @throws IoError, BadData
  void add(const AVFrame& picture, const TiffOrigin& origin, const TiffMetadata& metadata);
  void close();
  /// Returns the differences between the first page of the output and the original page.
  const TiffChanges& changes() const { return changes_; }

 private:
  void open(const TiffOrigin& origin);
  TiffChanges set_tags(const AVFrame& picture, const TiffLayout& layout,
                       const std::optional<TiffLayout>& from, const TiffMetadata& metadata);
  void create(const TiffLayout& layout);
  void filter_photoshop(TiffChanges& changes);

  int descriptor_;
  std::string name_;
  PhotoshopFilter filter_;
  std::unique_ptr<TiffReader> origin_;
  std::int64_t page_ = 0;  // current page of the original file
  std::unique_ptr<TiffWriter> writer_;
  TiffChanges changes_;

  friend TiffChanges predict_changes(const AVFrame& picture, const TiffOrigin& origin,
                                     PhotoshopFilter filter);
};

/// Returns the differences between an output page for `picture` and the page `origin`, without
/// reading the samples of `picture`.
/// @throws BadData
TiffChanges predict_changes(const AVFrame& picture, const TiffOrigin& origin,
                            PhotoshopFilter filter);

/// Returns whether the TIFF output for `picture` must be BigTIFF. `picture` must not come from a
/// TIFF file.
bool needs_big_tiff(const AVFrame& picture);

/// Pixel formats of TiffPictureWriter, in order of preference. The list `tiff_formats_of_tiff`
/// applies to pictures from TIFF files, and includes bit depths that few programs can read.
extern const AVPixelFormat tiff_formats[], tiff_formats_of_tiff[];

}  // namespace lull::io
