#pragma once
// TIFF files of one picture that libtiff itself writes.

#include <gtest/gtest.h>
#include <tiffio.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "io/support/clip.h"

namespace lull::io::test {

/// Fixture for tests that read the file `in` and write the file `out`. Messages of libtiff itself
/// are disabled.
class TiffFiles : public testing::Test {
 protected:
  void SetUp() override {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
  }
  TemporaryFolder folder;
  const std::string in = folder / "in.tif", out = folder / "out.tif";
};

struct PictureSpec {
  std::string name;
  int samples = 3, bits = 8;
  int form = SAMPLEFORMAT_UINT, photometric = PHOTOMETRIC_RGB;
  int codec = COMPRESSION_NONE, predictor = 0;
  int extra = 0;  // samples after the colours
  bool separate = false;
  int tile = 0;
  std::string mode = "w";
  int width = 45, height = 37;
  int seed = 0;

  int colours() const { return samples - extra; }
};

/// Bits of sample `i`: random for integers, small numbers for floats.
inline std::uint64_t sample_bits(const PictureSpec& spec, int x, int y, int i) {
  std::uint32_t hash = 2166136261u;
  for (const int value : {x, y, i, spec.seed})
    hash = (hash ^ static_cast<std::uint32_t>(value)) * 16777619u;
  hash ^= hash >> 15;
  if (spec.form != SAMPLEFORMAT_IEEEFP)
    return spec.bits == 32 ? hash : hash & ((1u << spec.bits) - 1);
  if (spec.bits == 16) return 0x3000 + (hash & 0x7ff);  // binary16 between 0.125 and 0.5
  const float value = static_cast<float>(hash & 0xfff) / 4096;
  return spec.bits == 32 ? std::bit_cast<std::uint32_t>(value)
                         : std::bit_cast<std::uint64_t>(static_cast<double>(value));
}

/// Appends a sample to a row in which `used` bits are used.
inline void append_bits(std::vector<std::uint8_t>& row, std::size_t& used, std::uint64_t value,
                        int bits) {
  if (bits % 8 == 0) {
    std::memcpy(&row[used / 8], &value, bits / 8);  // little-endian machines only
  } else {
    for (int bit = bits; bit-- > 0;)
      row[(used + bits - 1 - bit) / 8] |= (value >> bit & 1) << (7 - (used + bits - 1 - bit) % 8);
  }
  used += bits;
}

inline std::vector<std::uint8_t> make_chunk(const PictureSpec& spec, int x0, int y0, int width,
                                            int height, int first, int count) {
  const std::size_t row_bytes = (std::size_t(width) * count * spec.bits + 7) / 8;
  std::vector<std::uint8_t> chunk;
  for (int y = 0; y < height; ++y) {
    std::vector<std::uint8_t> row(row_bytes + 8);
    std::size_t used = 0;
    for (int x = 0; x < width; ++x)
      for (int i = first; i < first + count; ++i)
        append_bits(
            row, used,
            x0 + x < spec.width && y0 + y < spec.height ? sample_bits(spec, x0 + x, y0 + y, i) : 0,
            spec.bits);
    chunk.insert(chunk.end(), row.begin(), row.begin() + static_cast<long>(row_bytes));
  }
  return chunk;
}

struct CloseTiffFile {
  void operator()(TIFF* file) const noexcept { TIFFClose(file); }
};
using TiffFile = std::unique_ptr<TIFF, CloseTiffFile>;

/// Sets the tags of a page and writes its samples.
inline void write_picture(TIFF* file, const PictureSpec& spec) {
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, spec.width);
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, spec.height);
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, spec.samples);
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, spec.bits);
  TIFFSetField(file, TIFFTAG_SAMPLEFORMAT, spec.form);
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC, spec.photometric);
  TIFFSetField(file, TIFFTAG_PLANARCONFIG,
               spec.separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(file, TIFFTAG_COMPRESSION, spec.codec);
  if (spec.codec == COMPRESSION_JPEG && spec.photometric == PHOTOMETRIC_YCBCR)
    TIFFSetField(file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  if (spec.predictor) TIFFSetField(file, TIFFTAG_PREDICTOR, spec.predictor);
  if (spec.extra) {
    std::vector<std::uint16_t> kinds(spec.extra, EXTRASAMPLE_UNSPECIFIED);
    kinds[0] = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(file, TIFFTAG_EXTRASAMPLES, spec.extra, kinds.data());
  }
  if (spec.photometric == PHOTOMETRIC_PALETTE) {
    std::vector<std::uint16_t> map[3];
    for (int i = 0; i < 3; ++i)
      for (int v = 0; v < 1 << spec.bits; ++v)
        map[i].push_back(static_cast<std::uint16_t>(257 * ((v * (i + 3)) & 255)));
    TIFFSetField(file, TIFFTAG_COLORMAP, map[0].data(), map[1].data(), map[2].data());
  }
  const int rows = 16, count = spec.separate ? 1 : spec.samples;
  if (spec.tile) {
    TIFFSetField(file, TIFFTAG_TILEWIDTH, spec.tile);
    TIFFSetField(file, TIFFTAG_TILELENGTH, spec.tile);
  } else {
    TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, rows);
  }
  const int w = spec.tile ? spec.tile : spec.width, h = spec.tile ? spec.tile : rows;
  std::uint32_t number = 0;
  for (int first = 0; first < spec.samples; first += count)
    for (int y = 0; y < spec.height; y += h)
      for (int x = 0; x < spec.width; x += w, ++number) {
        const int height = spec.tile ? h : std::min(h, spec.height - y);
        auto chunk = make_chunk(spec, x, y, w, height, first, count);
        const auto bytes = static_cast<tmsize_t>(chunk.size());
        if (spec.tile)
          TIFFWriteEncodedTile(file, number, chunk.data(), bytes);
        else
          TIFFWriteEncodedStrip(file, number, chunk.data(), bytes);
      }
}

inline void make_picture(const std::string& path, const PictureSpec& spec) {
  const TiffFile file(TIFFOpen(path.c_str(), spec.mode.c_str()));
  write_picture(file.get(), spec);
}

/// Returns all decoded strips or tiles of the current page, one after the other.
inline std::vector<std::uint8_t> chunks_of(TIFF* file) {
  const bool tiled = TIFFIsTiled(file);
  std::vector<std::uint8_t> all, part(tiled ? TIFFTileSize(file) : TIFFStripSize(file));
  const std::uint32_t count = tiled ? TIFFNumberOfTiles(file) : TIFFNumberOfStrips(file);
  for (std::uint32_t i = 0; i < count; ++i) {
    const tmsize_t got = tiled ? TIFFReadEncodedTile(file, i, part.data(), -1)
                               : TIFFReadEncodedStrip(file, i, part.data(), -1);
    all.insert(all.end(), part.begin(), part.begin() + std::max<tmsize_t>(got, 0));
  }
  return all;
}

template <class T>
T tag_of(TIFF* file, std::uint32_t tag) {
  T value{};
  TIFFGetFieldDefaulted(file, tag, &value);
  return value;
}

}  // namespace lull::io::test
