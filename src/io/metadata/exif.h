#pragma once
// Reads and changes the parts of EXIF and XMP data that lull uses. Exiv2 parses and writes the
// data. A build without Exiv2 reads nothing and changes nothing.

#include <optional>
#include <string>
#include <vector>

#include "io/metadata/picture_metadata.h"

namespace lull::io {

/// Returns whether this build contains Exiv2.
bool has_exiv2();

struct ExifFacts {
  bool is_valid = false;
  int orientation = 1;
  std::optional<Resolution> resolution;
  std::optional<std::uint32_t> gamma;
  std::optional<Chromaticities> chromaticities;
  bool has_thumbnail = false;
  bool has_comment = false;  // a user comment that is not empty
};
ExifFacts read_exif(ByteView exif);

/// Changes of EXIF data. The thumbnail is always removed, because it shows the picture before
/// denoising.
struct ExifChanges {
  int orientation = 1;
  int width = 0, height = 0;  // size of the new picture
  std::optional<Resolution> resolution;
  std::optional<std::uint32_t> gamma;
  std::optional<Chromaticities> chromaticities;
  bool is_srgb = false;
  std::vector<PictureText> texts;
  /// If true, the user comment stores all texts that have no EXIF field of their own.
  bool uses_comment = false;
  /// change_exif() sets this member to true if the data would be longer than 64 KB. Exiv2 cannot
  /// write such data.
  bool is_too_long = false;
};

/// Returns the changed EXIF data. The function removes from `changes` all texts that it has stored
/// in the data. Data that need no change are returned bit for bit. If `exif` is empty and there is
/// something to store, the function creates new data.
ByteVector change_exif(ByteView exif, ExifChanges& changes);

struct XmpChanges {
  int orientation = 1;
  int width = 0, height = 0;
  bool drops_gain_map = false;  // removes the description of a gain map
};
/// Returns the changed XMP packet. A packet that contains none of the changed properties is
/// returned bit for bit.
ByteVector change_xmp(ByteView xmp, const XmpChanges& changes);

}  // namespace lull::io
