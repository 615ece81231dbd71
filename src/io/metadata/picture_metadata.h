#pragma once
// Metadata of still pictures: read from the bytes of a file, adapted to another format, and
// written into the bytes of an encoded picture.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lull::io {

using ByteView = std::span<const std::uint8_t>;
using ByteVector = std::vector<std::uint8_t>;

/// File formats whose metadata lull reads and writes. `other`: formats that hold none.
enum class PictureKind { jpeg, png, tiff, webp, dpx, other };

/// Samples per inch.
struct Resolution {
  double x = 0, y = 0;
  bool operator==(const Resolution&) const = default;
};

/// A text with a keyword, as PNG stores it. UTF-8.
struct PictureText {
  std::string keyword, text;
  std::string language, translated_keyword;
  bool operator==(const PictureText&) const = default;
};

/// Data that only files of one format can hold: a segment of JPEG, a chunk of PNG.
struct NativeBlock {
  PictureKind holder = PictureKind::other;  // `other`: no output can hold the block
  std::string name;                         // for messages: "the JPEG segment APP4"
  std::array<std::uint8_t, 4> type{};       // JPEG: the marker's second byte; PNG: the chunk's type
  ByteVector data;
};

/// White point, red, green and blue as pairs of CIE x and y, in units of 1/100000 (PNG's cHRM).
using Chromaticities = std::array<std::uint32_t, 8>;

/// A picture after the main one in the same JPEG file.
struct AdditionalPicture {
  std::uint32_t attributes = 0;  // as in the index of the Multi-Picture Format
  ByteVector data;               // a JPEG file
  bool is_gain_map = false;
};

struct PictureMetadata {
  ByteVector exif;       // a TIFF structure, without a header of the format that contains it
  ByteVector xmp;        // the packet
  ByteVector photoshop;  // image resource blocks of Photoshop, one of which is IPTC
  ByteVector icc;
  std::optional<Resolution> resolution;
  std::vector<PictureText> texts;
  std::optional<std::uint32_t> gamma;  // in units of 1/100000 (PNG's gAMA)
  std::optional<Chromaticities> chromaticities;
  std::optional<std::uint8_t> srgb_intent;  // PNG's sRGB
  std::vector<NativeBlock> native;
  std::vector<AdditionalPicture> pictures;
  int orientation = 1;  // EXIF's numbers, 1 to 8

  bool empty() const;
};

/// Reads the metadata of a picture file: JPEG, PNG, TIFF, WebP, HEIF (HEIC, AVIF) or JPEG XL.
/// Damaged metadata are ignored. Metadata of other formats are empty.
PictureMetadata read_metadata(ByteView file);

/// Returns the format of an encoded picture.
PictureKind kind_of(ByteView file);

/// Returns the format that an extension without its dot names.
PictureKind kind_of_extension(const std::string& extension);

/// Returns the bytes of the encoded picture `file` with `metadata`, which prepare_metadata() has
/// adapted to the format. Kinds of metadata that `metadata` contains replace those of the encoder.
/// @throws InternalError  the encoder made a file that is not understood
ByteVector embed_metadata(ByteView file, const PictureMetadata& metadata);

}  // namespace lull::io
