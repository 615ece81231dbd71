#pragma once
// Reads and changes the parts of EXIF and XMP data that lull uses. In a build without Exiv2, the
// functions read nothing and change nothing.

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

/// Changes that `change_exif()` makes to EXIF data. The function always removes the thumbnail,
/// which shows the picture before denoising.
struct ExifChanges {
  int orientation = 1;
  int width = 0, height = 0;  // size of the new picture
  std::optional<Resolution> resolution;
  std::optional<std::uint32_t> gamma;
  std::optional<Chromaticities> chromaticities;
  bool is_srgb = false;
  std::vector<PictureText> texts;
  /// If true, the user comment receives each text that has no EXIF field of its own.
  bool uses_comment = false;
  /// True if the EXIF data would exceed 64 KB, the limit of Exiv2. The function `change_exif()`
  /// sets this member.
  bool is_too_long = false;
};

/// Returns the changed EXIF data. The function stores texts of `changes.texts` in the data, and
/// removes the stored texts from the list. If nothing changes, the result equals `exif` bit for
/// bit. If `exif` is empty and there is something to store, the function creates new data.
ByteVector change_exif(ByteView exif, ExifChanges& changes);

struct XmpChanges {
  int orientation = 1;
  int width = 0, height = 0;
  bool drops_gain_map = false;  // removes the description of a gain map
};
/// Returns the changed XMP packet. If `xmp` contains none of the properties that change, the result
/// equals `xmp` bit for bit.
ByteVector change_xmp(ByteView xmp, const XmpChanges& changes);

}  // namespace lull::io
