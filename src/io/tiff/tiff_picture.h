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

/// Returns the current page of the reader as a grey or RGB picture. The picture has alpha if FFmpeg
/// has a suitable format. Palettes become RGB of 8 or 16 bits. Integers of up to 16 bits keep their
/// bit depth, or get the next higher depth of FFmpeg. Larger integers become floats in 0..1. All
/// floats become 32-bit floats.
/// @throws BadData  the page is damaged, or lull does not support its samples
FramePtr read_tiff_picture(TiffReader& reader);

/// Returns notes for the user about content of the first page that a picture cannot contain. The
/// list is empty if the page is not readable.
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

/// The page of a TIFF file that contained a picture. `page` does not count masks and reduced copies
/// of pictures.
struct TiffOrigin {
  std::string path;  // empty: the picture has no origin
  std::int64_t page = 0;
};

/// Function that removes thumbnails from Photoshop image resource blocks.
using PhotoshopFilter = std::vector<std::uint8_t> (*)(std::span<const std::uint8_t> blocks);

/// Writes pictures as the pages of one TIFF file.
class TiffPictureWriter {
 public:
  /// Writes to the open file `descriptor`. The caller must close this file. `name` is the name of
  /// the file in messages.
  TiffPictureWriter(int descriptor, const std::string& name, PhotoshopFilter filter)
      : descriptor_(descriptor), name_(name), filter_(filter) {}

  /// Adds a page with the tags, the extra samples, the layout and the codec of the page `origin`,
  /// in the byte order of the original file. If `origin` is empty, the page gets `metadata`. All
  /// origins must be pages of the same file, in the order of this file.
  /// @throws IoError, BadData
  void add(const AVFrame& picture, const TiffOrigin& origin, const TiffMetadata& metadata);
  void close();
  /// Returns how the first page of the output differs from the original page.
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

/// Returns how an output page for `picture` differs from the page `origin`. The function reads no
/// samples of `picture`.
/// @throws BadData
TiffChanges predict_changes(const AVFrame& picture, const TiffOrigin& origin,
                            PhotoshopFilter filter);

/// Returns whether lull writes `picture` as BigTIFF. The picture must not come from a TIFF file.
bool needs_big_tiff(const AVFrame& picture);

/// Pixel formats that TiffPictureWriter accepts, in order of preference. `tiff_formats_of_tiff` is
/// for pictures from TIFF files. This list also contains bit depths that few programs can read.
extern const AVPixelFormat tiff_formats[], tiff_formats_of_tiff[];

}  // namespace lull::io
