#pragma once
// Conversion of pictures between TIFF pages and FFmpeg's frames.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"
#include "io/tiff/tiff_writer.h"

namespace lull::io {

/// Returns the reader's page as a picture: grey or RGB, with alpha if FFmpeg has such a format.
/// Integers of 1 to 16 bits keep their depth or get the next one that FFmpeg has; their maximum
/// becomes the maximum of that depth. Integers of 24 and 32 bits become floats in 0..1, all floats
/// become floats of 32 bits, palettes RGB of 8 or 16 bits. White is the maximum for every kind of
/// integer. The picture has the colour profile and the aspect ratio of the page. Its time is 0.
/// @throws BadData  damaged, or samples that lull does not support
FramePtr read_tiff_picture(TiffReader& reader);

/// Returns notes for the user about content of the first page that pictures do not hold. Empty also
/// if the page cannot be read.
std::vector<std::string> notes_of_tiff(const std::string& path);

/// Metadata of a picture that does not come from a TIFF file.
struct TiffMetadata {
  std::vector<std::uint8_t> icc, xmp, iptc;  // empty: none
  std::vector<std::uint8_t> photoshop;       // image resource blocks; empty: none
  std::uint16_t orientation = 0;             // 1..8 as in TIFF 6.0; 0: not stated
  double dots_per_inch[2] = {0, 0};          // along a row, along a column; 0: not stated
  std::vector<float>
      chromaticities;  // CIE x and y of white, red, green and blue; empty: not stated
};

/// Sets the tags of the current page for the metadata that are stated.
void set_metadata(TIFF* page, const TiffMetadata& metadata);

/// A page of a TIFF file, counted without smaller copies of pictures and masks.
struct TiffOrigin {
  std::string path;  // empty: there is none
  std::int64_t page = 0;
};

/// Returns Photoshop's image resource blocks as an output gets them: without thumbnails.
using PhotoshopFilter = std::vector<std::uint8_t> (*)(std::span<const std::uint8_t> blocks);

/// Writes pictures as the pages of one file.
class TiffPictureWriter {
 public:
  /// Writes to an open file, which the caller closes. `name` is for messages.
  TiffPictureWriter(int descriptor, const std::string& name, PhotoshopFilter filter)
      : descriptor_(descriptor), name_(name), filter_(filter) {}

  /// Adds a page. It gets the tags, the extra samples, the layout of samples and the codec of
  /// `origin`, and the byte order of its file. Without an origin it gets `metadata`. All pages of
  /// an output must come from one file, in order.
  /// @throws IoError, BadData
  void add(const AVFrame& picture, const TiffOrigin& origin, const TiffMetadata& metadata);
  void close();
  /// Returns how the first page differs from its origin.
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
  std::int64_t page_ = 0;  // current page of the origin
  std::unique_ptr<TiffWriter> writer_;
  TiffChanges changes_;

  friend TiffChanges predict_changes(const AVFrame& picture, const TiffOrigin& origin,
                                     PhotoshopFilter filter);
};

/// Returns how a page for `picture`, whose samples are not read, differs from its origin.
/// @throws BadData
TiffChanges predict_changes(const AVFrame& picture, const TiffOrigin& origin,
                            PhotoshopFilter filter);

/// Returns whether a picture that does not come from a TIFF file becomes a BigTIFF file.
bool needs_big_tiff(const AVFrame& picture);

/// Pixel formats that TiffPictureWriter accepts, best first. The second list also has the bit
/// depths that few programs read; it is for pictures that come from TIFF files.
extern const AVPixelFormat tiff_formats[], tiff_formats_of_tiff[];

}  // namespace lull::io
