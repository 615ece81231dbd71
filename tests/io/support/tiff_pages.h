#pragma once
// TIFF files of several pages that libtiff itself writes and reads.

#include <gtest/gtest.h>
#include <tiffio.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace lull::io::test {

struct CloseTiff {
  void operator()(TIFF* file) const noexcept { TIFFClose(file); }
};
using TiffPtr = std::unique_ptr<TIFF, CloseTiff>;

inline constexpr std::uint32_t imagej_counts = 50838, imagej_data = 50839, private_tag = 65001;

struct StackSpec {
  int width = 37, height = 29, pages = 4;
  int bits = 16, form = SAMPLEFORMAT_UINT;
  int codec = COMPRESSION_NONE, predictor = PREDICTOR_NONE;
  std::string mode = "w";
  int tile = 0, rows_per_strip = 10;
  bool labels = false;
};

/// Random bytes for the samples of page `n`; floats without NaN.
inline std::vector<std::uint8_t> page_bytes(const StackSpec& spec, int n) {
  std::mt19937 rng(n + 1);
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < spec.width * spec.height; ++i) {
    std::uint8_t raw[8];
    if (spec.form == SAMPLEFORMAT_IEEEFP) {
      const double v = std::normal_distribution<double>{100, 30}(rng);
      const float f = static_cast<float>(v);
      std::memcpy(raw, spec.bits == 32 ? static_cast<const void*>(&f) : &v, spec.bits / 8);
    } else {
      const std::uint32_t v = rng();
      std::memcpy(raw, &v, 4);
    }
    bytes.insert(bytes.end(), raw, raw + spec.bits / 8);
  }
  return bytes;
}

inline void describe_page(TIFF* file, const StackSpec& spec, int n) {
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, spec.width);
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, spec.height);
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, spec.bits);
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(file, TIFFTAG_SAMPLEFORMAT, spec.form);
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC, n == 1 ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK);
  TIFFSetField(file, TIFFTAG_COMPRESSION, spec.codec);
  if (spec.predictor != PREDICTOR_NONE) TIFFSetField(file, TIFFTAG_PREDICTOR, spec.predictor);
  if (spec.tile) {
    TIFFSetField(file, TIFFTAG_TILEWIDTH, spec.tile);
    TIFFSetField(file, TIFFTAG_TILELENGTH, spec.tile);
  } else {
    TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, spec.rows_per_strip);
  }
  TIFFSetField(file, TIFFTAG_XRESOLUTION, 3.5 + n);
  TIFFSetField(file, TIFFTAG_YRESOLUTION, 7.25);
  TIFFSetField(file, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
  TIFFSetField(file, TIFFTAG_ORIENTATION, ORIENTATION_BOTRIGHT);
  TIFFSetField(file, TIFFTAG_PAGENUMBER, n, spec.pages);
  TIFFSetField(file, TIFFTAG_SOFTWARE, "a microscope");
  const std::string text = "ImageJ=1.53\nimages=" + std::to_string(spec.pages) + "\nspacing=0.5";
  TIFFSetField(file, TIFFTAG_IMAGEDESCRIPTION, n == 0 ? text.c_str() : "another page");
}

/// Adds ImageJ's labels and an unknown tag.
inline void label_page(TIFF* file, int n) {
  static const TIFFFieldInfo infos[] = {
      {imagej_counts, -3, -3, TIFF_LONG, FIELD_CUSTOM, 1, 1, const_cast<char*>("counts")},
      {imagej_data, -3, -3, TIFF_BYTE, FIELD_CUSTOM, 1, 1, const_cast<char*>("data")},
      {private_tag, -3, -3, TIFF_RATIONAL, FIELD_CUSTOM, 1, 1, const_cast<char*>("private")}};
  TIFFMergeFieldInfo(file, infos, 3);
  const std::uint32_t counts[] = {12, 7, static_cast<std::uint32_t>(n)};
  const std::uint8_t data[] = {'I', 'J', 'I', 'J', 0, 1, 2, 3, 255};
  const float rationals[] = {0.5f, 2.25f};
  TIFFSetField(file, imagej_counts, 3, counts);
  TIFFSetField(file, imagej_data, 9, data);
  TIFFSetField(file, private_tag, 2, rationals);
}

inline void make_stack(const std::string& path, const StackSpec& spec) {
  const TiffPtr file(TIFFOpen(path.c_str(), spec.mode.c_str()));
  for (int n = 0; n < spec.pages; ++n) {
    describe_page(file.get(), spec, n);
    if (spec.labels) label_page(file.get(), n);
    std::vector<std::uint8_t> bytes = page_bytes(spec, n);
    const int row = spec.width * spec.bits / 8;
    if (spec.tile) {
      for (int y = 0; y < spec.height; y += spec.tile)
        for (int x = 0; x < spec.width; x += spec.tile) {
          std::vector<std::uint8_t> tile(TIFFTileSize(file.get()));
          for (int v = 0; v < spec.tile && y + v < spec.height; ++v)
            for (int u = 0; u < spec.tile && x + u < spec.width; ++u)
              std::memcpy(&tile[(v * spec.tile + u) * spec.bits / 8],
                          &bytes[(y + v) * row + (x + u) * spec.bits / 8], spec.bits / 8);
          TIFFWriteTile(file.get(), tile.data(), x, y, 0, 0);
        }
    } else {
      for (int y = 0; y < spec.height; ++y) TIFFWriteScanline(file.get(), &bytes[y * row], y, 0);
    }
    TIFFWriteDirectory(file.get());
  }
}

/// Returns the samples of the file's current page, row by row.
inline std::vector<std::uint8_t> read_page(TIFF* file) {
  std::uint32_t width = 0, height = 0;
  std::uint16_t bits = 0;
  TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(file, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetField(file, TIFFTAG_BITSPERSAMPLE, &bits);
  std::vector<std::uint8_t> bytes(width * height * bits / 8);
  const std::size_t row = width * bits / 8;
  if (!TIFFIsTiled(file)) {
    for (std::uint32_t y = 0; y < height; ++y) TIFFReadScanline(file, &bytes[y * row], y, 0);
    return bytes;
  }
  std::uint32_t side = 0;
  TIFFGetField(file, TIFFTAG_TILEWIDTH, &side);
  std::vector<std::uint8_t> tile(TIFFTileSize(file));
  for (std::uint32_t y = 0; y < height; y += side)
    for (std::uint32_t x = 0; x < width; x += side) {
      TIFFReadTile(file, tile.data(), x, y, 0, 0);
      for (std::uint32_t v = 0; v < side && y + v < height; ++v)
        std::memcpy(&bytes[(y + v) * row + x * bits / 8], &tile[v * side * bits / 8],
                    std::min(side, width - x) * bits / 8);
    }
  return bytes;
}

template <class T>
T get(TIFF* file, std::uint32_t tag) {
  T value{};
  EXPECT_TRUE(TIFFGetField(file, tag, &value)) << tag;
  return value;
}

}  // namespace lull::io::test
