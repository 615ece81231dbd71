// Writes denoised raw photographs: DNG files, and developed pictures.

#include <OpenEXR/ImfRgbaFile.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/error.h"
#include "io/files/output_file.h"
#include "io/files/positioned_io.h"
#include "io/metadata/byte_order.h"
#include "io/raw/raw_stream.h"

namespace lull::io {
namespace {

enum class Kind { dng, tiff, png, exr, unknown };

Kind kind_of_name(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (extension == ".dng") return Kind::dng;
  if (extension == ".tif" || extension == ".tiff") return Kind::tiff;
  if (extension == ".png") return Kind::png;
  return extension == ".exr" ? Kind::exr : Kind::unknown;
}

void write_bytes(OutputFile& file, ByteView bytes, std::uint64_t at) {
  if (!write_at(file.descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(at)))
    throw IoError("cannot write '" + file.temporary() + "' (the disk may be full)");
}

void write_parts(OutputFile& file, const TiffFileParts& parts) {
  write_bytes(file, parts.head, 0);
  for (const TiffFileParts::Picture& picture : parts.pictures)
    write_bytes(file, picture.samples, picture.offset);
}

void append_chunk(ByteVector& png, std::string_view type, ByteView data) {
  append_big(png, static_cast<std::uint32_t>(data.size()), 4);
  const std::size_t begin = png.size();
  append(png, type);
  append(png, data);
  const uLong sum = crc32(0, png.data() + begin, static_cast<uInt>(png.size() - begin));
  append_big(png, static_cast<std::uint32_t>(sum), 4);
}

/// Applies PNG's row filter "Up" to a picture with 16 bits per sample, and returns the compressed
/// rows for a PNG file.
ByteVector compressed_rows(const Frame& picture) {
  const int width = picture.format.width, height = picture.format.height;
  const std::size_t row_bytes = static_cast<std::size_t>(width) * 6;
  ByteVector rows((row_bytes + 1) * height), above(row_bytes), row(row_bytes);
  constexpr std::uint8_t filter_up = 2;
  for (int y = 0; y < height; ++y) {
    for (int c = 0; c < 3; ++c)
      for (int x = 0; x < width; ++x) {
        const std::uint16_t v = picture.plane<std::uint16_t>(c)(x, y);
        row[6 * x + 2 * c] = static_cast<std::uint8_t>(v >> 8);
        row[6 * x + 2 * c + 1] = static_cast<std::uint8_t>(v & 255);
      }
    std::uint8_t* to = rows.data() + (row_bytes + 1) * y;
    *to++ = filter_up;
    for (std::size_t i = 0; i < row_bytes; ++i)
      to[i] = static_cast<std::uint8_t>(row[i] - above[i]);
    std::swap(above, row);
  }
  uLongf size = compressBound(rows.size());
  ByteVector packed(size);
  constexpr int fast = 3;
  if (compress2(packed.data(), &size, rows.data(), rows.size(), fast) != Z_OK)
    throw InternalError("zlib cannot compress a picture");
  packed.resize(size);
  return packed;
}

ByteVector png_of(const Frame& picture, const RawFacts& facts) {
  ByteVector png;
  append(png, std::string_view("\x89PNG\r\n\x1a\n", 8));
  ByteVector header;
  append_big(header, static_cast<std::uint32_t>(picture.format.width), 4);
  append_big(header, static_cast<std::uint32_t>(picture.format.height), 4);
  constexpr std::uint8_t bits = 16, rgb = 2;
  for (const std::uint8_t byte : {bits, rgb, std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{0}})
    header.push_back(byte);
  append_chunk(png, "IHDR", header);
  append_chunk(png, "sRGB", ByteVector{0});
  append_chunk(png, "eXIf", write_tiff_tree(make_developed(facts, picture, nullptr)).head);
  constexpr std::size_t max_chunk = std::size_t{1} << 30;
  const ByteVector rows = compressed_rows(picture);
  for (std::size_t at = 0; at < rows.size(); at += max_chunk)
    append_chunk(png, "IDAT", ByteView(rows).subspan(at, std::min(max_chunk, rows.size() - at)));
  append_chunk(png, "IEND", {});
  return png;
}

void write_exr(const std::string& path, const Frame& picture) {
  const int width = picture.format.width, height = picture.format.height;
  std::vector<Imf::Rgba> pixels(static_cast<std::size_t>(width) * height);
  const auto light = [&](int c, int x, int y) {
    return static_cast<float>(picture.plane<std::uint16_t>(c)(x, y)) / 65535;
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      pixels[static_cast<std::size_t>(y) * width + x] =
          Imf::Rgba(light(0, x, y), light(1, x, y), light(2, x, y));
  try {
    Imf::RgbaOutputFile file(path.c_str(), width, height, Imf::WRITE_RGB);
    file.setFrameBuffer(pixels.data(), 1, static_cast<std::size_t>(width));
    file.writePixels(height);
  } catch (const std::exception& error) {
    throw IoError(std::string("cannot write an OpenEXR file (") + error.what() + ")");
  }
}

void write_developed(OutputFile& file, Kind kind, const RawResult& result, ByteView dng) {
  const Frame picture = develop(dng, kind == Kind::exr ? Curve::linear : Curve::srgb);
  if (kind == Kind::exr) {
    write_exr(file.temporary(), picture);
  } else if (kind == Kind::png) {
    write_bytes(file, png_of(picture, *result.facts), 0);
  } else {
    std::vector<std::uint8_t> samples;
    write_parts(file, write_tiff_tree(make_developed(*result.facts, picture, &samples)));
  }
}

ByteVector joined(const TiffFileParts& parts) {
  ByteVector bytes = parts.head;
  for (const TiffFileParts::Picture& picture : parts.pictures) {
    bytes.resize(picture.offset);
    append(bytes, picture.samples);
  }
  return bytes;
}

}  // namespace

bool is_raw_output(const std::string& path) { return kind_of_name(path) != Kind::unknown; }

std::vector<std::string> write_raw_result(const std::string& path, const RawResult& result,
                                          const RawFileOptions& options) {
  const Kind kind = kind_of_name(path);
  if (kind == Kind::unknown)
    throw InvalidArgument("'" + path +
                          "' (a denoised raw photograph is written as DNG, or developed as TIFF, "
                          "PNG or OpenEXR); use .dng");
  OutputFile file(path, {.overwrite = options.overwrite, .access = options.access});
  DngSamples samples;
  const TiffFileParts parts = write_tiff_tree(
      make_dng(*result.facts, result.samples, result.levels, result.noise_profile, samples));
  std::vector<std::string> losses;
  if (kind == Kind::dng) {
    write_parts(file, parts);
    losses = omitted_from_dng(*result.facts, result.samples.format.planes() == 1);
  } else {
    write_developed(file, kind, result, joined(parts));
    if (kind == Kind::exr) losses.emplace_back("the metadata of the photograph");
  }
  if (kind != Kind::exr && !result.facts->omitted.empty())
    losses.push_back(result.facts->omitted + " (lull cannot copy such data)");
  if (options.strict_metadata && !losses.empty())
    throw InvalidArgument("--strict-metadata: not in the output: " + losses.front() +
                          "; use another format");
  file.commit();
  return losses;
}

}  // namespace lull::io
