#pragma once
// Metadata of still pictures. lull reads the metadata of an input, adapts them to the output
// format, and writes them into the encoded pictures.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lull::io {

using ByteView = std::span<const std::uint8_t>;
using ByteVector = std::vector<std::uint8_t>;

/// File formats whose metadata lull can read and write; `other` is all other formats.
enum class PictureKind { jpeg, png, tiff, webp, dpx, other };

/// Resolution in samples per inch.
struct Resolution {
  double x = 0, y = 0;
  bool operator==(const Resolution&) const = default;
};

/// A UTF-8 string with a keyword, as in a text chunk of a PNG file.
struct PictureText {
  std::string keyword, text;
  std::string language, translated_keyword;
  bool operator==(const PictureText&) const = default;
};

/// Data that only one file format can store, such as a JPEG segment or a PNG chunk.
struct NativeBlock {
  PictureKind holder = PictureKind::other;  // the format; `other`: no output can contain the block
  std::string name;                         // for messages: "the JPEG segment APP4"
  std::array<std::uint8_t, 4> type{};       // JPEG: the marker's second byte; PNG: the chunk's type
  ByteVector data;
};

/// CIE x and y of the white point and of the red, green and blue primaries, in units of 1/100000
/// (PNG's cHRM).
using Chromaticities = std::array<std::uint32_t, 8>;

/// A picture that follows the main picture in a JPEG file.
struct AdditionalPicture {
  std::uint32_t attributes = 0;  // as in the index of the Multi-Picture Format
  ByteVector data;               // a complete JPEG file
  bool is_gain_map = false;
};

struct PictureMetadata {
  ByteVector exif;       // a TIFF structure, without a header of the format that contains it
  ByteVector xmp;        // the XMP packet
  ByteVector photoshop;  // image resource blocks of Photoshop, among them IPTC
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

/// Reads the metadata of a JPEG, PNG, TIFF, WebP, DPX, HEIF (HEIC, AVIF) or JPEG XL file. Returns
/// no metadata for other formats. The function ignores damaged metadata.
PictureMetadata read_metadata(ByteView file);

/// Returns the format of an encoded picture, detected from its first bytes.
PictureKind kind_of(ByteView file);

/// Returns the format for a file name extension (without a dot).
PictureKind kind_of_extension(const std::string& extension);

/// Writes `metadata` from `prepare_metadata()` into the encoded picture `file`, and returns the new
/// file. Each kind of metadata replaces the metadata of this kind that the encoder wrote.
/// @throws InternalError  the structure of the encoder's file is unknown
ByteVector embed_metadata(ByteView file, const PictureMetadata& metadata);

}  // namespace lull::io
