#pragma once
// Photos for tests. Their metadata are written and read with Exiv2 and libtiff, or, for PNG, chunk
// by chunk, so that lull's code is checked against other code.

#include <string>
#include <string_view>
#include <vector>

#include "io/support/clip.h"

namespace lull::io::test {

/// The metadata of a photo, or those that an output contains.
struct PhotoFacts {
  std::string make, taken, latitude;  // EXIF: strings and numbers as Exiv2 prints them
  int orientation = 1;
  int exif_width = 0;
  bool has_thumbnail = false;
  std::string xmp_title, caption;  // dc:title of XMP; the caption of IPTC
  std::vector<std::uint8_t> icc;
  double dots_per_inch = 0;
  std::string texts;  // all texts of PNG, comments and EXIF fields for texts, in lines
  std::uint32_t gamma = 0, white_x = 0;  // in units of 1/100000
};

/// Returns a profile of RGB samples whose header is valid.
std::vector<std::uint8_t> rgb_profile();

/// Bytes of a picture in `extension`'s format (jpg, png, tif, webp) without metadata.
void make_picture(const std::string& path, const std::string& extension, int width = 64,
                  int height = 48);

/// Adds the metadata of `facts` to a picture; fields that are empty are not added.
void add_metadata(const std::string& path, const PhotoFacts& facts);

/// Reads the metadata of an output.
PhotoFacts read_photo(const std::string& path);

/// Inserts a chunk after the header of a PNG file.
void add_png_chunk(const std::string& path, std::string_view type, std::string_view data);
/// Returns the data of all chunks of this type.
std::vector<std::string> png_chunks(const std::string& path, std::string_view type);

/// Copies with open_source and open_sink. Returns the losses, followed by the notes.
struct Copied {
  std::vector<std::string> losses, notes;
};
Copied copy_photo(const std::string& from, const std::string& to, SinkOptions options = {});

}  // namespace lull::io::test
