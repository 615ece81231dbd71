#pragma once
// EXIF and XMP data: what lull reads of them, and what it changes. Exiv2 parses and writes them. A
// build without Exiv2 reads nothing and changes nothing.

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

/// Changes of EXIF data. The thumbnail, which shows the old samples, is always removed.
struct ExifChanges {
  int orientation = 1;
  int width = 0, height = 0;  // of the new picture
  std::optional<Resolution> resolution;
  std::optional<std::uint32_t> gamma;
  std::optional<Chromaticities> chromaticities;
  bool is_srgb = false;
  std::vector<PictureText> texts;
  /// Collects all texts without a field of their own in the user comment.
  bool uses_comment = false;
  /// Result: the data would be longer than 64 KB, which Exiv2 does not write.
  bool is_too_long = false;
};

/// Returns the changed data, and removes the texts that they hold from `changes`. Data that need no
/// change are returned bit for bit. Empty data become new ones if there is something to store.
ByteVector change_exif(ByteView exif, ExifChanges& changes);

struct XmpChanges {
  int orientation = 1;
  int width = 0, height = 0;
  bool drops_gain_map = false;  // removes the description of a gain map
};
/// Returns the changed packet; bit for bit the same if it states none of these properties.
ByteVector change_xmp(ByteView xmp, const XmpChanges& changes);

}  // namespace lull::io
