#include "io/pictures/float_tiff.h"

#include <tiffio.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "io/pictures/tiff_memory.h"
#include "io/pictures/tiff_strips.h"

namespace lull::io {
namespace {

/// Converts IEEE 754 binary16 to binary32.
float from_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const float sign = half & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

struct Shape {
  std::uint32_t width = 0, height = 0;
  std::uint16_t samples = 1, bits = 1, format = SAMPLEFORMAT_UINT;
  std::uint16_t planar = PLANARCONFIG_CONTIG, photometric = PHOTOMETRIC_MINISBLACK;
};

Shape shape_of(TIFF* tiff) {
  Shape s;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &s.width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &s.height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &s.samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &s.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &s.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &s.planar);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &s.photometric);
  return s;
}

AVPixelFormat format_of(const Shape& s, const std::string& path) {
  const bool grey = s.samples == 1 && s.photometric == PHOTOMETRIC_MINISBLACK;
  const bool rgb = (s.samples == 3 || s.samples == 4) && s.photometric == PHOTOMETRIC_RGB;
  if ((s.bits != 16 && s.bits != 32) || (!grey && !rgb))
    throw BadData("'" + path + "' has " + std::to_string(s.samples) + " samples of " +
                  std::to_string(s.bits) +
                  "-bit floats (must be grey, RGB or RGB with alpha of 16 or 32 bits); convert it "
                  "first");
  return grey ? AV_PIX_FMT_GRAYF32 : s.samples == 3 ? AV_PIX_FMT_GBRPF32 : AV_PIX_FMT_GBRAPF32;
}

/// Stores `count` samples of a decoded row or a part of it. `from` holds `stride` samples per
/// pixel; the function uses the one at `offset`.
void store(const std::uint8_t* from, int bits, int stride, int offset, float* to, int count) {
  for (int x = 0; x < count; ++x) {
    const std::size_t at = std::size_t(x) * stride + offset;
    if (bits == 32) {
      std::memcpy(to + x, from + 4 * at, 4);
    } else {
      std::uint16_t half;
      std::memcpy(&half, from + 2 * at, 2);
      to[x] = from_half(half);
    }
  }
}

/// Returns the planes in the order of the file's samples.
struct Target {
  AVFrame& picture;
  float* row(int sample, std::uint32_t y) const {
    const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
    const int plane = d.comp[sample].plane;
    return reinterpret_cast<float*>(picture.data[plane] +
                                    std::ptrdiff_t(y) * picture.linesize[plane]);
  }
};

bool read_rows(TIFF* tiff, const Shape& s, const Target& to) {
  const bool apart = s.planar == PLANARCONFIG_SEPARATE;
  std::vector<std::uint8_t> row(static_cast<std::size_t>(TIFFScanlineSize64(tiff)));
  const int stride = apart ? 1 : s.samples;
  if (row.size() < std::size_t(s.width) * stride * s.bits / 8) return false;
  for (int plane = 0; plane < (apart ? s.samples : 1); ++plane)
    for (std::uint32_t y = 0; y < s.height; ++y) {
      if (TIFFReadScanline(tiff, row.data(), y, static_cast<std::uint16_t>(plane)) < 0)
        return false;
      for (int i = 0; i < stride; ++i)
        store(row.data(), s.bits, stride, i, to.row(plane + i, y), static_cast<int>(s.width));
    }
  return true;
}

bool read_tiles(TIFF* tiff, const Shape& s, const Target& to) {
  std::uint32_t width = 0, height = 0;
  TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height);
  if (width == 0 || height == 0) return false;
  const bool apart = s.planar == PLANARCONFIG_SEPARATE;
  const int stride = apart ? 1 : s.samples;
  std::vector<std::uint8_t> tile(static_cast<std::size_t>(TIFFTileSize64(tiff)));
  const std::size_t row_bytes = std::size_t(width) * stride * s.bits / 8;
  if (tile.size() < row_bytes * height) return false;
  for (int plane = 0; plane < (apart ? s.samples : 1); ++plane)
    for (std::uint32_t y = 0; y < s.height; y += height)
      for (std::uint32_t x = 0; x < s.width; x += width) {
        if (TIFFReadTile(tiff, tile.data(), x, y, 0, static_cast<std::uint16_t>(plane)) < 0)
          return false;
        const int count = static_cast<int>(std::min(width, s.width - x));
        for (std::uint32_t r = 0; r < std::min(height, s.height - y); ++r)
          for (int i = 0; i < stride; ++i)
            store(tile.data() + r * row_bytes, s.bits, stride, i, to.row(plane + i, y + r) + x,
                  count);
      }
  return true;
}

}  // namespace

bool is_float_tiff(const std::string& path) {
  std::string message;
  const TiffPtr tiff(TIFFOpenExt(path.c_str(), "rm", tiff_options(message, 0).get()));
  return tiff && shape_of(tiff.get()).format == SAMPLEFORMAT_IEEEFP;
}

namespace {

/// Creates a picture of the page's size with samples of 0. The size is checked against the limit,
/// and against the size of the file, before memory is allocated.
FramePtr make_picture(TIFF* page, const Shape& shape, const AVPacket& file, const std::string& path,
                      std::int64_t max_pixels) {
  FramePtr picture = make_frame();
  picture->format = format_of(shape, path);
  if (shape.width < 1 || shape.height < 1 || std::int64_t{shape.width} * shape.height > max_pixels)
    throw BadData("'" + path + "' is " + std::to_string(shape.width) + "x" +
                  std::to_string(shape.height) + " (more than " + std::to_string(max_pixels) +
                  " pixels); allow it with --max-pixels");
  const std::string excess = find_excess(page, static_cast<std::uint64_t>(file.size));
  if (!excess.empty()) throw BadData("'" + path + "' is damaged or cut short (" + excess + ")");
  picture->width = static_cast<int>(shape.width);
  picture->height = static_cast<int>(shape.height);
  if (av_frame_get_buffer(picture.get(), 0) < 0) throw std::bad_alloc();
  for (const AVBufferRef* buffer : picture->buf)
    if (buffer) std::memset(buffer->data, 0, buffer->size);
  picture->sample_aspect_ratio = {1, 1};
  picture->pts = picture->best_effort_timestamp = file.pts;
  set_frame_duration(*picture, file.duration);
  return picture;
}

}  // namespace

FramePtr read_float_tiff(const AVPacket& file, const std::string& path, std::int64_t max_pixels) {
  TiffMemory memory({file.data, static_cast<std::size_t>(file.size)});
  const TiffPtr tiff = memory.open("rm", 64 * max_pixels);
  const auto fail = [&](const std::string& why) {
    throw BadData("'" + path + "' is damaged or cut short" + (why.empty() ? "" : " (" + why + ")"));
  };
  if (!tiff) fail(memory.message());
  const Shape shape = shape_of(tiff.get());
  if (shape.format != SAMPLEFORMAT_IEEEFP)
    throw BadData("'" + path + "' has other samples than those before it (floats); convert it");
  FramePtr picture = make_picture(tiff.get(), shape, file, path, max_pixels);
  if (const auto fault = find_damaged_strip(tiff.get(), memory.message())) fail(fault->text);
  memory.message().clear();
  const Target target{*picture};
  const bool is_complete = TIFFIsTiled(tiff.get()) ? read_tiles(tiff.get(), shape, target)
                                                   : read_rows(tiff.get(), shape, target);
  if (!is_complete || !memory.message().empty()) fail(memory.message());
  return picture;
}

PacketPtr write_float_tiff(const Frame& frame, const Frame* alpha) {
  TiffMemory memory;
  {
    const TiffPtr tiff = memory.open("wm");
    if (!tiff) throw std::bad_alloc();
    TIFF* t = tiff.get();
    const FrameFormat& f = frame.format;
    const int samples = f.planes() + (alpha ? 1 : 0);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, f.width);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, f.height);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, samples);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 32);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC,
                 f.layout == Layout::gray ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
    TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(t, TIFFTAG_PREDICTOR, PREDICTOR_FLOATINGPOINT);
    if (alpha) {
      const std::uint16_t kind = EXTRASAMPLE_UNASSALPHA;
      TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, &kind);
    }
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(t, 0));
    std::vector<float> row(std::size_t(f.width) * samples);
    for (int y = 0; y < f.height; ++y) {
      for (int i = 0; i < samples; ++i) {
        const float* from =
            i < f.planes() ? frame.plane<float>(i).row(y) : alpha->plane<float>(0).row(y);
        for (int x = 0; x < f.width; ++x) row[std::size_t(x) * samples + i] = from[x];
      }
      if (TIFFWriteScanline(t, row.data(), static_cast<std::uint32_t>(y), 0) < 0)
        throw IoError("cannot make a TIFF file (libtiff failed, or memory is short)");
    }
  }
  PacketPtr packet = make_packet();
  const std::span<const std::uint8_t> bytes = memory.bytes();
  if (bytes.size() > INT32_MAX - AV_INPUT_BUFFER_PADDING_SIZE ||
      av_new_packet(packet.get(), static_cast<int>(bytes.size())) < 0)
    throw std::bad_alloc();
  std::ranges::copy(bytes, packet->data);
  return packet;
}

}  // namespace lull::io
