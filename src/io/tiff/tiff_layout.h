#pragma once
// The layout of the samples of a TIFF page: number, type and meaning.

#include <cstddef>
#include <string>

#include "io/tiff/tiff_library.h"

namespace lull::io {

struct TiffLayout {
  int width = 0, height = 0;
  int bits = 8;                                        // number of bits of a sample
  std::uint16_t form = SAMPLEFORMAT_UINT;              // SAMPLEFORMAT_UINT, _INT or _IEEEFP
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;  // _MINISBLACK, _MINISWHITE, _PALETTE, _RGB
  int colours = 1;           // number of samples of a pixel before the extra ones
  int extra = 0;             // number of extra samples of a pixel: alpha, masks
  int alpha = -1;            // index of the alpha sample in the pixel; -1: none
  bool is_separate = false;  // each sample has strips or tiles of its own
  bool is_ycbcr = false;  // true if the file has YCbCr samples; libtiff converts them to 8-bit RGB
  /// True if libtiff returns the YCbCr samples of a strip or tile unchanged. TiffReader then reads
  /// the page through libtiff's RGB interface, which converts whole pictures.
  bool is_converted = false;
  bool operator==(const TiffLayout&) const = default;

  int samples() const { return colours + extra; }
  bool is_float() const { return form == SAMPLEFORMAT_IEEEFP; }
  bool is_grey() const {
    return photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
  }
  /// Returns the number of samples of a pixel in one strip or tile.
  int samples_of_chunk() const { return is_separate ? 1 : samples(); }
  /// Returns the size in bytes of a row of a strip or tile. The row has `pixels` pixels.
  std::size_t row_bytes(int pixels) const {
    return (static_cast<std::size_t>(pixels) * samples_of_chunk() * bits + 7) / 8;
  }
};

/// Reads the layout from the tags of the current page, and selects libtiff's conversion of YCbCr to
/// RGB if available. Sets `refusal` to the reason why lull does not support the samples, such as
/// "CMYK samples (must be grey or RGB)". If lull supports the samples, `refusal` becomes an empty
/// string.
TiffLayout layout_of(TIFF* page, std::string& refusal);

/// Returns whether the page contains raw data of a camera sensor, or refers to another page with
/// raw data.
bool is_raw_photograph(TIFF* page);

/// Returns the reason why a file of `file_bytes` bytes is too short for the page, even at the
/// codec's maximum compression ratio. Empty if the file is large enough.
std::string find_excess(TIFF* page, const TiffLayout& layout, std::uint64_t file_bytes);

}  // namespace lull::io
