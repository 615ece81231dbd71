// Reads and writes the metadata of PNG files (ISO/IEC 15948), in the chunks before the samples.

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <new>
#include <utility>

#include "core/error.h"
#include "io/files/inflated_size.h"
#include "io/metadata/byte_order.h"
#include "io/metadata/formats.h"

namespace lull::io {
namespace {

constexpr std::size_t signature_bytes = 8;
constexpr std::string_view xmp_keyword = "XML:com.adobe.xmp", raw_profile = "Raw profile type ";
constexpr std::string_view iptc_profile = "Raw profile type iptc";
constexpr double metres_per_inch = 0.0254;

struct Chunk {
  std::string_view type;
  ByteView data;
  ByteView bytes;  // the complete chunk
};

template <class Visit>
void visit_chunks(ByteView file, Visit visit) {
  for (std::size_t at = signature_bytes; at + 12 <= file.size();) {
    const std::size_t length = read_big(&file[at], 4);
    if (length > file.size() - at - 12) return;
    const std::string_view type = text_view(file.subspan(at + 4, 4));
    visit(Chunk{type, file.subspan(at + 8, length), file.subspan(at, length + 12)});
    if (type == "IEND") return;
    at += length + 12;
  }
}

void write_chunk(ByteVector& to, std::string_view type, ByteView data) {
  append_big(to, static_cast<std::uint32_t>(data.size()), 4);
  const std::size_t begin = to.size();
  append(to, type);
  append(to, data);
  const auto sum = crc32(0, &to[begin], static_cast<uInt>(to.size() - begin));
  append_big(to, static_cast<std::uint32_t>(sum), 4);
}

/// Returns the decompressed data; empty if `data` are damaged, or larger than 16 MiB after
/// decompression.
ByteVector inflated(ByteView data) {
  constexpr std::uint64_t max_bytes = 16 << 20;
  const InflatedSize size = inflated_size(data, max_bytes);
  if (!size.is_complete || size.bytes > max_bytes) return {};
  ByteVector out(size.bytes);
  auto bytes = static_cast<uLongf>(out.size());
  if (uncompress(out.data(), &bytes, data.data(), static_cast<uLong>(data.size())) != Z_OK)
    return {};
  return out;
}

ByteVector deflated(ByteView data) {
  ByteVector out(compressBound(static_cast<uLong>(data.size())));
  auto bytes = static_cast<uLongf>(out.size());
  if (compress(out.data(), &bytes, data.data(), static_cast<uLong>(data.size())) != Z_OK)
    throw std::bad_alloc();
  out.resize(bytes);
  return out;
}

/// Removes and returns a zero-terminated string at the beginning of `data`.
ByteView take_text(ByteView& data) {
  const auto zero = std::ranges::find(data, 0);
  const ByteView text(data.begin(), zero);
  data = {zero == data.end() ? zero : zero + 1, data.end()};
  return text;
}

int hex_digit(std::uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int lower = std::tolower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Decodes ImageMagick's text form of a profile: a line with a name, a line with the number of
/// bytes, hexadecimal digits.
ByteVector decode_raw_profile(std::string_view text) {
  int lines = 0;
  std::size_t at = 0;
  for (; at < text.size() && lines < 3; ++at) lines += text[at] == '\n' ? 1 : 0;
  ByteVector out;
  int high = -1;
  for (; at < text.size(); ++at) {
    const int digit = hex_digit(static_cast<std::uint8_t>(text[at]));
    if (digit < 0) continue;
    if (high >= 0) out.push_back(static_cast<std::uint8_t>(high << 4 | digit));
    high = high < 0 ? digit : -1;
  }
  return out;
}

std::string encode_raw_profile(std::string_view name, ByteView data) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "\n" + std::string(name) + "\n" + std::to_string(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i % 36 == 0) text += '\n';
    text += digits[data[i] >> 4];
    text += digits[data[i] & 15];
  }
  return text + "\n";
}

/// Stores a profile in ImageMagick's text form in `metadata`. Returns false if the text is not a
/// profile.
bool read_raw_profile(const PictureText& text, PictureMetadata& metadata) {
  if (!text.keyword.starts_with(raw_profile)) return false;
  const std::string kind = text.keyword.substr(raw_profile.size());
  const ByteVector data = decode_raw_profile(text.text);
  constexpr std::string_view jpeg_header{"Exif\0\0", 6};
  constexpr std::string_view photoshop_header{"Photoshop 3.0\0", 14};
  if (kind == "exif" || kind == "APP1") {
    const ByteView exif = begins_with(data, jpeg_header)
                              ? ByteView(data).subspan(jpeg_header.size())
                              : ByteView(data);
    if (metadata.exif.empty() && (begins_with(exif, "II") || begins_with(exif, "MM")))
      metadata.exif = to_vector(exif);
  } else if (kind == "iptc" || kind == "8bim") {
    const ByteView blocks = begins_with(data, photoshop_header)
                                ? ByteView(data).subspan(photoshop_header.size())
                                : ByteView(data);
    if (metadata.photoshop.empty())
      metadata.photoshop = begins_with(blocks, "8BIM") ? to_vector(blocks) : photoshop_of(blocks);
  } else if (kind == "xmp") {
    if (metadata.xmp.empty()) metadata.xmp = data;
  } else {
    return false;
  }
  return true;
}

void add_text(PictureText text, PictureMetadata& metadata) {
  if (text.keyword == xmp_keyword) {
    metadata.xmp = to_vector(byte_view(text.text));
  } else if (!read_raw_profile(text, metadata)) {
    metadata.texts.push_back(std::move(text));
  }
}

// Reads a text chunk (ISO/IEC 15948, 11.3.4): Latin-1 (tEXt), compressed (zTXt), or UTF-8 (iTXt)
// after two flags, a language and a translated keyword.
void read_text_chunk(const Chunk& chunk, PictureMetadata& metadata) {
  ByteView data = chunk.data;
  PictureText text;
  text.keyword = from_latin1(take_text(data));
  if (text.keyword.empty()) return;
  if (chunk.type == "tEXt") {
    text.text = from_latin1(data);
  } else if (chunk.type == "zTXt") {
    if (data.empty()) return;
    const ByteVector plain = inflated(data.subspan(1));
    text.text = from_latin1(plain);
  } else {
    if (data.size() < 2) return;
    const bool is_compressed = data[0] != 0;
    data = data.subspan(2);
    text.language = text_view(take_text(data));
    text.translated_keyword = text_view(take_text(data));
    const ByteVector plain = is_compressed ? inflated(data) : to_vector(data);
    text.text = text_view(plain);
  }
  add_text(std::move(text), metadata);
}

void read_profile(ByteView data, PictureMetadata& metadata) {
  (void)take_text(data);
  if (data.size() > 1) metadata.icc = inflated(data.subspan(1));
}

void read_resolution(ByteView data, PictureMetadata& metadata) {
  constexpr int per_metre = 1;
  if (data.size() < 9 || data[8] != per_metre) return;
  const double x = read_big(&data[0], 4), y = read_big(&data[4], 4);
  if (x > 0 && y > 0) metadata.resolution = {x * metres_per_inch, y * metres_per_inch};
}

bool is_in(std::string_view type, std::span<const std::string_view> list) {
  return std::ranges::find(list, type) != list.end();
}

/// PNG chunks that lull does not copy, because they describe the samples or the encoding of the
/// source. For example, iDOT, from Apple's programs, contains the positions of compressed rows.
constexpr std::string_view of_samples[] = {"tRNS", "sBIT", "hIST", "bKGD", "sPLT", "tIME",
                                           "acTL", "fcTL", "fdAT", "dSIG", "iDOT"};
/// PNG chunks that remain valid after denoising. Their names do not mark them as safe to copy.
constexpr std::string_view of_picture[] = {"oFFs", "pCAL", "sCAL", "sTER", "cICP", "mDCV", "cLLI"};

// Stores an ancillary chunk (lower-case first letter) for the output. The function keeps the data
// of a chunk only if the chunk is safe to copy (lower-case fourth letter; ISO/IEC 15948, 5.4) or
// its name is in the list `of_picture`.
void read_native(const Chunk& chunk, PictureMetadata& metadata) {
  const bool is_ancillary = (chunk.type[0] & 0x20) != 0;
  if (!is_ancillary || is_in(chunk.type, of_samples)) return;
  const bool is_safe = (chunk.type[3] & 0x20) != 0 || is_in(chunk.type, of_picture);
  const bool is_name = std::ranges::all_of(chunk.type, [](unsigned char c) { return isalpha(c); });
  NativeBlock block{is_safe ? PictureKind::png : PictureKind::other,
                    "the PNG chunk " + (is_name ? std::string(chunk.type) : "?"),
                    {},
                    is_safe ? to_vector(chunk.data) : ByteVector()};
  std::ranges::copy(chunk.type, block.type.begin());
  metadata.native.push_back(std::move(block));
}

void read_chunk(const Chunk& chunk, PictureMetadata& metadata) {
  const std::string_view type = chunk.type;
  if (type == "tEXt" || type == "zTXt" || type == "iTXt") {
    read_text_chunk(chunk, metadata);
  } else if (type == "eXIf") {
    metadata.exif = to_vector(chunk.data);
  } else if (type == "iCCP") {
    read_profile(chunk.data, metadata);
  } else if (type == "pHYs") {
    read_resolution(chunk.data, metadata);
  } else if (type == "gAMA") {
    if (chunk.data.size() == 4) metadata.gamma = read_big(chunk.data.data(), 4);
  } else if (type == "cHRM") {
    if (chunk.data.size() != 32) return;
    Chromaticities& values = metadata.chromaticities.emplace();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = read_big(&chunk.data[4 * i], 4);
  } else if (type == "sRGB") {
    if (chunk.data.size() == 1) metadata.srgb_intent = chunk.data[0];
  } else {
    read_native(chunk, metadata);
  }
}

void write_text_chunk(ByteVector& to, const PictureText& text) {
  constexpr std::size_t max_plain = 1024;
  const std::optional<std::string> keyword = to_latin1(text.keyword);
  const std::optional<std::string> latin1 = to_latin1(text.text);
  ByteVector data;
  append(data, keyword ? *keyword : std::string("Comment"));
  data.push_back(0);
  const bool is_international =
      !latin1 || !text.language.empty() || !text.translated_keyword.empty();
  const bool is_long = (is_international ? text.text.size() : latin1->size()) > max_plain;
  if (is_international) {
    data.push_back(is_long ? 1 : 0);
    data.push_back(0);
    append(data, text.language);
    data.push_back(0);
    append(data, text.translated_keyword);
    data.push_back(0);
  } else if (is_long) {
    data.push_back(0);
  }
  const ByteView plain = byte_view(is_international ? text.text : *latin1);
  append(data, is_long ? ByteView(deflated(plain)) : plain);
  write_chunk(to, is_international ? "iTXt" : is_long ? "zTXt" : "tEXt", data);
}

void write_colour(ByteVector& to, const PictureMetadata& metadata) {
  if (!metadata.icc.empty()) {
    ByteVector data;
    append(data, std::string_view{"ICC profile\0\0", 13});
    append(data, deflated(metadata.icc));
    write_chunk(to, "iCCP", data);
  } else if (metadata.srgb_intent) {  // a file may contain only one of the two
    write_chunk(to, "sRGB", ByteVector{*metadata.srgb_intent});
  }
  ByteVector data;
  if (metadata.gamma) {
    append_big(data, *metadata.gamma, 4);
    write_chunk(to, "gAMA", data);
  }
  if (!metadata.chromaticities) return;
  data.clear();
  for (const std::uint32_t value : *metadata.chromaticities) append_big(data, value, 4);
  write_chunk(to, "cHRM", data);
}

void write_resolution(ByteVector& to, const Resolution& resolution) {
  ByteVector data;
  for (const double value : {resolution.x, resolution.y})
    append_big(data,
               static_cast<std::uint32_t>(
                   std::clamp(std::lround(value / metres_per_inch), 1L, 0x7FFFFFFFL)),
               4);
  data.push_back(1);  // per metre
  write_chunk(to, "pHYs", data);
}

void write_chunks(ByteVector& to, const PictureMetadata& metadata) {
  write_colour(to, metadata);
  if (metadata.resolution) write_resolution(to, *metadata.resolution);
  if (!metadata.exif.empty()) write_chunk(to, "eXIf", metadata.exif);
  for (const NativeBlock& block : metadata.native)
    if (block.holder == PictureKind::png) write_chunk(to, text_view(block.type), block.data);
  for (const PictureText& text : metadata.texts) write_text_chunk(to, text);
  if (!metadata.photoshop.empty())
    write_text_chunk(
        to, {std::string(iptc_profile), encode_raw_profile("iptc", metadata.photoshop), {}, {}});
  if (metadata.xmp.empty()) return;
  ByteVector data;
  append(data, xmp_keyword);
  data.insert(data.end(), 5, 0);  // not compressed, no language, no translated keyword
  append(data, metadata.xmp);
  write_chunk(to, "iTXt", data);
}

bool is_replaced(std::string_view type, const PictureMetadata& metadata) {
  constexpr std::string_view colour[] = {"iCCP", "sRGB", "gAMA", "cHRM", "cICP"};
  const bool has_colour =
      !metadata.icc.empty() || metadata.gamma || metadata.chromaticities || metadata.srgb_intent;
  if (has_colour && is_in(type, colour)) return true;
  if (type == "iCCP") return true;  // FFmpeg writes the profile even if it describes other channels
  if (type == "pHYs") return metadata.resolution.has_value();
  return type == "eXIf" && !metadata.exif.empty();
}

}  // namespace

void read_png(ByteView file, PictureMetadata& metadata) {
  visit_chunks(file, [&](const Chunk& chunk) { read_chunk(chunk, metadata); });
}

ByteVector embed_in_png(ByteView file, const PictureMetadata& metadata) {
  if (file.size() < signature_bytes) throw InternalError("not a PNG file");
  ByteVector out = to_vector(file.first(signature_bytes));
  out.reserve(file.size() + metadata.exif.size() + metadata.icc.size() + metadata.xmp.size() +
              4096);
  visit_chunks(file, [&](const Chunk& chunk) {
    if (!is_replaced(chunk.type, metadata)) append(out, chunk.bytes);
    if (chunk.type == "IHDR") write_chunks(out, metadata);
  });
  return out;
}

}  // namespace lull::io
