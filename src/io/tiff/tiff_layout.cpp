#include "io/tiff/tiff_layout.h"

#include <algorithm>
#include <vector>

namespace lull::io {
namespace {

bool is_fax(std::uint16_t codec) {
  return codec == COMPRESSION_CCITTRLE || codec == COMPRESSION_CCITTRLEW ||
         codec == COMPRESSION_CCITTFAX3 || codec == COMPRESSION_CCITTFAX4;
}

/// Returns the maximum compression ratio of a codec. A page whose samples are all equal reaches
/// this ratio.
std::uint64_t max_compression(std::uint16_t codec) {
  switch (codec) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_PACKBITS:
      return 64;  // 128 bytes become 2
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return 1100;  // 1030 according to zlib's manual
    case COMPRESSION_LZW:
      return 3000;  // up to 4096 bytes become 12 bits
    default:
      return 1 << 15;
  }
}

/// Returns the name of an unsupported colour space for an error message; empty for supported pages.
std::string unsupported_colours(std::uint16_t photometric, int samples) {
  switch (photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_PALETTE:
      return {};
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_YCBCR:
      return samples >= 3 ? "" : "fewer than three samples per pixel of colour";
    case PHOTOMETRIC_SEPARATED:
      return samples == 4 ? "CMYK samples" : "samples of inks";
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
    case PHOTOMETRIC_ITULAB:
      return "L*a*b* samples";
    case PHOTOMETRIC_LOGL:
    case PHOTOMETRIC_LOGLUV:
      return "LogLuv samples";
    case PHOTOMETRIC_MASK:
      return "a transparency mask";
    case PHOTOMETRIC_CFA:
      return "raw data of a camera sensor";
    default:
      return "samples of the unknown kind " + std::to_string(photometric);
  }
}

std::string unsupported_samples(TIFF* page, const TiffLayout& layout) {
  const std::string bits = std::to_string(layout.bits) + "-bit ";
  const bool is_integer = layout.form == SAMPLEFORMAT_UINT || layout.form == SAMPLEFORMAT_INT;
  if (tiff_tag<std::uint32_t>(page, TIFFTAG_IMAGEDEPTH, 1) != 1) return "a volume in one page";
  if (layout.is_float())
    return layout.bits == 16 || layout.bits == 32 || layout.bits == 64 ? "" : bits + "floats";
  if (!is_integer) return "complex numbers";
  if (layout.bits < 1 || (layout.bits > 16 && layout.bits != 24 && layout.bits != 32))
    return bits + "integers";
  if (layout.form == SAMPLEFORMAT_INT && layout.bits < 8) return "signed " + bits + "integers";
  const bool is_index = layout.photometric == PHOTOMETRIC_PALETTE;
  if (is_index && (layout.bits > 16 || layout.form == SAMPLEFORMAT_INT))
    return "a palette with " + bits + "indices";
  return {};
}

void find_alpha(TIFF* page, TiffLayout& layout) {
  std::uint16_t count = 0;
  const std::uint16_t* kinds = nullptr;
  if (!TIFFGetField(page, TIFFTAG_EXTRASAMPLES, &count, &kinds)) count = 0;
  layout.extra = count;
  for (int i = 0; i < count && layout.alpha < 0; ++i)
    if (kinds[i] == EXTRASAMPLE_ASSOCALPHA || kinds[i] == EXTRASAMPLE_UNASSALPHA)
      layout.alpha = layout.colours + i;
}

/// Makes libtiff convert a YCbCr page to RGB samples at full resolution. Returns false if libtiff
/// has no conversion for the codec.
bool choose_conversion(TIFF* page, std::uint16_t codec) {
  if (codec != COMPRESSION_JPEG ||
      tiff_tag<std::uint16_t>(page, TIFFTAG_PLANARCONFIG, 1) != PLANARCONFIG_CONTIG)
    return false;
  return TIFFSetField(page, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) != 0;
}

bool is_sensor(TIFF* page) {
  const auto colours = tiff_tag<std::uint16_t>(page, TIFFTAG_PHOTOMETRIC, 0);
  constexpr std::uint16_t linear_raw = 34892;  // Adobe's DNG specification
  return colours == PHOTOMETRIC_CFA || colours == linear_raw;
}

}  // namespace

TiffLayout layout_of(TIFF* page, std::string& refusal) {
  TiffLayout layout;
  const auto codec = tiff_tag<std::uint16_t>(page, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  const int samples = tiff_tag<std::uint16_t>(page, TIFFTAG_SAMPLESPERPIXEL, 1);
  const auto fallback =
      static_cast<std::uint16_t>(samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  layout.width = static_cast<int>(tiff_tag<std::uint32_t>(page, TIFFTAG_IMAGEWIDTH, 0));
  layout.height = static_cast<int>(tiff_tag<std::uint32_t>(page, TIFFTAG_IMAGELENGTH, 0));
  layout.bits = tiff_tag<std::uint16_t>(page, TIFFTAG_BITSPERSAMPLE, 1);
  layout.form = tiff_tag<std::uint16_t>(page, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  if (layout.form == SAMPLEFORMAT_VOID) layout.form = SAMPLEFORMAT_UINT;
  layout.photometric = fallback;
  TIFFGetField(page, TIFFTAG_PHOTOMETRIC, &layout.photometric);
  layout.is_separate = samples > 1 && tiff_tag<std::uint16_t>(page, TIFFTAG_PLANARCONFIG, 1) ==
                                          PLANARCONFIG_SEPARATE;
  if (!TIFFIsCODECConfigured(codec))
    refusal = "the compression " + std::to_string(codec) + " (this libtiff has no decoder for it)";
  else if (refusal = unsupported_colours(layout.photometric, samples); !refusal.empty())
    refusal += " (must be grey or RGB)";
  else if (refusal = unsupported_samples(page, layout); !refusal.empty())
    refusal += " (must be integers of 1 to 16, 24 or 32 bits, or floats of 16, 32 or 64 bits)";
  if (!refusal.empty()) return layout;
  const bool is_rgb = layout.photometric == PHOTOMETRIC_RGB;
  layout.is_ycbcr = layout.photometric == PHOTOMETRIC_YCBCR;
  layout.colours = is_rgb || layout.is_ycbcr ? 3 : 1;
  find_alpha(page, layout);
  layout.extra = samples - layout.colours;
  // Many programs do not declare alpha, so lull treats a single undeclared extra sample as alpha.
  if (layout.alpha < 0 && layout.extra == 1) layout.alpha = layout.colours;
  if (layout.alpha >= samples) layout.alpha = -1;
  if (!layout.is_ycbcr) return layout;
  layout.photometric = PHOTOMETRIC_RGB;
  if (layout.bits != 8 || layout.extra > 0)
    refusal = "YCbCr samples of " + std::to_string(layout.bits) +
              " bits or with alpha (must be 8 bits without alpha)";
  layout.is_converted = !choose_conversion(page, codec);
  if (layout.is_converted) layout.is_separate = false;
  return layout;
}

bool is_raw_photograph(TIFF* page) {
  const void* version = nullptr;
  if (is_sensor(page) || TIFFGetField(page, TIFFTAG_DNGVERSION, &version)) return true;
  std::uint16_t count = 0;
  const std::uint64_t* offsets = nullptr;
  if (!TIFFGetField(page, TIFFTAG_SUBIFD, &count, &offsets)) return false;
  const std::vector<std::uint64_t> pages(offsets, offsets + std::min<int>(count, 16));
  const std::uint64_t here = TIFFCurrentDirOffset(page);
  const bool found = std::ranges::any_of(pages, [&](std::uint64_t offset) {
    return TIFFSetSubDirectory(page, offset) && is_sensor(page);
  });
  TIFFSetSubDirectory(page, here);
  return found;
}

std::string find_excess(TIFF* page, const TiffLayout& layout, std::uint64_t file_bytes) {
  const auto codec = tiff_tag<std::uint16_t>(page, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  const auto rows = static_cast<std::uint64_t>(layout.height);
  const std::uint64_t planes = layout.is_separate ? layout.samples() : 1;
  // Minimum number of bytes of a row. YCbCr samples that libtiff converts need at least one byte
  // per pixel, even with subsampled chroma.
  const std::uint64_t row = layout.is_converted ? static_cast<std::uint64_t>(layout.width)
                                                : layout.row_bytes(layout.width);
  const std::uint64_t bytes = row * rows * planes;
  // The compression ratio of fax codecs is unlimited, because a blank row of any width may need
  // only one bit.
  const bool fits =
      is_fax(codec) ? rows / 8 <= file_bytes : bytes / max_compression(codec) <= file_bytes;
  const bool has_large_tiles = TIFFIsTiled(page) && TIFFTileSize64(page) / 64 > bytes + (1 << 16);
  if (fits && !has_large_tiles) return {};
  return "it has more samples than " + std::to_string(file_bytes) + " bytes can hold";
}

}  // namespace lull::io
