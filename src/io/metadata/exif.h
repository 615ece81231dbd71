#pragma once
// Reads and changes EXIF and XMP data. Without Exiv2, the functions read and change nothing.

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

/// Changes for `change_exif()`. Independently of these members, `change_exif()` removes the
/// thumbnail, because the thumbnail shows the picture before denoising.
struct ExifChanges {
  int orientation = 1;
  int width = 0, height = 0;  // size of the new picture
  std::optional<Resolution> resolution;
  std::optional<std::uint32_t> gamma;
  std::optional<Chromaticities> chromaticities;
  bool is_srgb = false;
  std::vector<PictureText> texts;
  /// Whether `change_exif()` stores texts without a matching EXIF field in the user comment.
  bool uses_comment = false;
  /// change_exif() sets this member if the EXIF data would exceed 64 KB, the limit of Exiv2.
  bool is_too_long = false;
};

/// Returns the changed EXIF data; new data if `exif` is empty. The function moves texts from
/// `changes.texts` into EXIF fields. If nothing changes, the result equals `exif` bit for bit.
ByteVector change_exif(ByteView exif, ExifChanges& changes);

struct XmpChanges {
  int orientation = 1;
  int width = 0, height = 0;
  bool drops_gain_map = false;  // removes the description of a gain map
};
/// Returns the changed XMP packet. The function clears the flags of a motion photo, because lull
/// does not copy its video. If nothing changes, the result equals `xmp` bit for bit.
ByteVector change_xmp(ByteView xmp, const XmpChanges& changes);

}  // namespace lull::io
