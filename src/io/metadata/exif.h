#pragma once
// Reads and changes the parts of EXIF and XMP data that lull uses. Exiv2 parses and writes the
// data. In a build without Exiv2, the functions read nothing and change nothing.

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

/// Changes of EXIF data. In addition to these changes, change_exif() always removes the thumbnail,
/// because the thumbnail shows the picture before denoising.
struct ExifChanges {
  int orientation = 1;
  int width = 0, height = 0;  // size of the new picture
  std::optional<Resolution> resolution;
  std::optional<std::uint32_t> gamma;
  std::optional<Chromaticities> chromaticities;
  bool is_srgb = false;
  std::vector<PictureText> texts;
  /// If true, change_exif() stores all texts without an EXIF field of their own in the user
  /// comment.
  bool uses_comment = false;
  /// change_exif() sets this member to true if the data would be longer than 64 KB, because Exiv2
  /// cannot write longer data.
  bool is_too_long = false;
};

/// Returns the changed EXIF data. The function stores texts from the list `changes.texts` in the
/// data, and removes these texts from the list. If nothing needs a change, the result equals `exif`
/// bit for bit. If `exif` is empty and there is something to store, the function creates new data.
ByteVector change_exif(ByteView exif, ExifChanges& changes);

struct XmpChanges {
  int orientation = 1;
  int width = 0, height = 0;
  bool drops_gain_map = false;  // removes the description of a gain map
};
/// Returns the changed XMP packet. If the packet contains none of the changed properties, the
/// result equals `xmp` bit for bit.
ByteVector change_xmp(ByteView xmp, const XmpChanges& changes);

}  // namespace lull::io
