// Reads and writes the metadata of JPEG files (ITU-T T.81, annex B), in the segments before the
// first scan.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "core/error.h"
#include "io/metadata/byte_order.h"
#include "io/metadata/formats.h"
#include "io/metadata/multi_picture.h"
#include "io/pictures/picture_check.h"

namespace lull::io {
namespace {

constexpr std::uint8_t start_of_image = 0xD8, end_of_image = 0xD9, start_of_scan = 0xDA,
                       app0 = 0xE0, app1 = 0xE1, app2 = 0xE2, app13 = 0xED, comment = 0xFE;

// Identifiers at the beginning of application segments.
constexpr std::string_view jfif{"JFIF\0", 5}, exif_name{"Exif\0\0", 6},
    xmp_name{"http://ns.adobe.com/xap/1.0/\0", 29},
    extended_xmp_name{"http://ns.adobe.com/xmp/extension/\0", 35}, icc_name{"ICC_PROFILE\0", 12},
    photoshop_name{"Photoshop 3.0\0", 14};

/// Prefix of the JPEG comment that FFmpeg's encoder writes. lull does not copy comments with this
/// prefix.
constexpr std::string_view encoder_comment = "Lavc";

constexpr std::size_t max_segment = 65533;  // bytes of data

bool has_length(std::uint8_t marker) {
  return marker != 0x01 && !(marker >= 0xD0 && marker <= end_of_image);
}

/// A segment and its position in the file. `data` excludes the marker and the length.
struct Segment {
  std::uint8_t marker = 0;
  ByteView data;
  std::size_t begin = 0, end = 0;
};

/// Calls `visit` for each segment before the first scan. Returns the position of the first scan, or
/// of the first invalid bytes.
template <class Visit>
std::size_t visit_segments(ByteView file, Visit visit) {
  std::size_t at = 2;
  while (at + 4 <= file.size() && file[at] == 0xFF) {
    const std::uint8_t marker = file[at + 1];
    if (marker == 0xFF) {  // a fill byte
      ++at;
      continue;
    }
    if (marker == start_of_scan || marker == end_of_image) return at;
    const std::size_t length = has_length(marker) ? read_big(&file[at + 2], 2) : 0;
    const std::size_t end = at + 2 + length;
    if (end > file.size() || (has_length(marker) && length < 2)) return at;
    const std::size_t head = has_length(marker) ? 4 : 2;
    visit(Segment{marker, file.subspan(at + head, end - at - head), at, end});
    at = end;
  }
  return at;
}

void read_jfif(ByteView data, PictureMetadata& metadata) {
  if (data.size() < 12) return;
  constexpr int per_inch = 1, per_centimetre = 2;
  const int unit = data[7];
  const double x = read_big(&data[8], 2), y = read_big(&data[10], 2);
  if ((unit != per_inch && unit != per_centimetre) || x == 0 || y == 0) return;
  const double scale = unit == per_centimetre ? 2.54 : 1;
  metadata.resolution = {x * scale, y * scale};
}

/// Returns a segment as a block for PictureMetadata::native. If the segment contains content
/// credentials (C2PA in JUMBF boxes), the block has no data, so that lull reports a loss. Content
/// credentials contain a signature, which is invalid after denoising.
NativeBlock native_segment(const Segment& segment) {
  const std::string name = "APP" + std::to_string(segment.marker - app0);
  const bool is_jumbf = segment.marker == 0xEB && begins_with(segment.data, "JP");
  if (is_jumbf) return {PictureKind::other, "content credentials (C2PA)", {}, {}};
  if (begins_with(segment.data, extended_xmp_name))
    return {PictureKind::jpeg, "extended XMP", {segment.marker}, to_vector(segment.data)};
  return {PictureKind::jpeg, "the JPEG segment " + name, {segment.marker}, to_vector(segment.data)};
}

/// Returns whether a segment only describes the encoding of the source: JFIF with its thumbnail
/// (APP0), the quality (APP12) or the colour transform (APP14).
bool describes_coding(const Segment& segment) {
  return segment.marker == app0 || (segment.marker == 0xEC && begins_with(segment.data, "Ducky")) ||
         (segment.marker == 0xEE && begins_with(segment.data, "Adobe"));
}

void write_segment(ByteVector& to, std::uint8_t marker, std::string_view name, ByteView data) {
  to.push_back(0xFF);
  to.push_back(marker);
  append_big(to, static_cast<std::uint32_t>(2 + name.size() + data.size()), 2);
  append(to, name);
  append(to, data);
}

/// Writes `data` in as many segments as necessary. Each segment consists of `name`, the result of
/// `head(index, segments)`, and a part of the data.
template <class Head>
void write_parts(ByteVector& to, std::uint8_t marker, std::string_view name, ByteView data,
                 std::size_t head_bytes, Head head) {
  const std::size_t part = max_segment - name.size() - head_bytes;
  const std::size_t parts = (data.size() + part - 1) / part;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::string begin = std::string(name) + head(i, parts);
    write_segment(to, marker, begin,
                  data.subspan(i * part, std::min(part, data.size() - i * part)));
  }
}

/// Returns the data of a JFIF segment (ITU-T T.871, 10.1) with the given resolution; a new segment
/// if `jfif_data` is empty.
ByteVector with_resolution(ByteView jfif_data, const Resolution& resolution) {
  ByteVector data = to_vector(jfif_data);
  if (data.size() < 14) data = {'J', 'F', 'I', 'F', 0, 1, 2, 0, 0, 0, 0, 0, 0, 0};
  ByteVector fields;
  append_big(fields, 1, 1);  // per inch
  for (const double value : {resolution.x, resolution.y})
    append_big(fields, static_cast<std::uint32_t>(std::clamp(std::lround(value), 1L, 65535L)), 2);
  std::ranges::copy(fields, data.begin() + 7);
  return data;
}

void write_blocks(ByteVector& to, const PictureMetadata& metadata) {
  const auto no_head = [](std::size_t, std::size_t) { return std::string(); };
  if (!metadata.exif.empty()) write_segment(to, app1, exif_name, metadata.exif);
  if (!metadata.xmp.empty()) write_segment(to, app1, xmp_name, metadata.xmp);
  write_parts(to, app13, photoshop_name, metadata.photoshop, 0, no_head);
  write_parts(to, app2, icc_name, metadata.icc, 2, [](std::size_t i, std::size_t n) {
    return std::string{static_cast<char>(i + 1), static_cast<char>(n)};
  });
  for (const NativeBlock& block : metadata.native)
    if (block.holder == PictureKind::jpeg) write_segment(to, block.type[0], {}, block.data);
  for (const PictureText& text : metadata.texts)
    write_parts(to, comment, {}, byte_view(text.text), 0, no_head);
}

/// Appends further pictures to a JPEG file, and inserts the index of these pictures at the
/// beginning.
void append_pictures(ByteVector& file, std::span<const AdditionalPicture> pictures) {
  constexpr std::size_t head = 4;
  const bool has_jfif = file[3] == app0;  // must be the first segment
  const std::size_t at = has_jfif ? 4 + read_big(&file[4], 2) : 2;
  const std::size_t segment = head + mpf_name.size() + index_size(pictures.size() + 1);
  ByteVector out = to_vector(ByteView(file).first(at));
  out.reserve(file.size() + segment);
  write_segment(out, app2, mpf_name,
                make_index(pictures, file.size() + segment, at + head + mpf_name.size()));
  append(out, ByteView(file).subspan(at));
  for (const AdditionalPicture& picture : pictures) append(out, picture.data);
  file = std::move(out);
}

/// Returns whether lull removes `segment`, which the encoder wrote. lull removes the segment if it
/// writes data of the same kind from `metadata`.
bool is_replaced(const Segment& segment, const PictureMetadata& metadata) {
  if (segment.marker == comment) return !metadata.texts.empty();
  // FFmpeg writes the ICC profile of the input even if the profile does not suit the channels of
  // the output. lull therefore always removes this profile.
  if (segment.marker == app2 && begins_with(segment.data, icc_name)) return true;
  return segment.marker == app1 && begins_with(segment.data, exif_name) && !metadata.exif.empty();
}

}  // namespace

void read_jpeg(ByteView file, PictureMetadata& metadata) {
  std::map<int, ByteView> icc;  // parts by their number
  visit_segments(file, [&](const Segment& s) {
    const auto after = [&](std::string_view name) { return s.data.subspan(name.size()); };
    if (s.marker == app0 && begins_with(s.data, jfif)) {
      read_jfif(s.data, metadata);
    } else if (s.marker == app1 && begins_with(s.data, exif_name)) {
      if (metadata.exif.empty()) metadata.exif = to_vector(after(exif_name));
    } else if (s.marker == app1 && begins_with(s.data, xmp_name)) {
      if (metadata.xmp.empty()) metadata.xmp = to_vector(after(xmp_name));
    } else if (s.marker == app2 && begins_with(s.data, icc_name)) {
      if (s.data.size() > icc_name.size() + 2)
        icc.emplace(s.data[icc_name.size()], after(icc_name).subspan(2));
    } else if (s.marker == app13 && begins_with(s.data, photoshop_name)) {
      append(metadata.photoshop, after(photoshop_name));
    } else if (s.marker == app2 && begins_with(s.data, mpf_name)) {
      const ByteView index = after(mpf_name);
      if (metadata.pictures.empty())
        metadata.pictures =
            read_pictures(file, static_cast<std::size_t>(index.data() - file.data()), index.size());
    } else if (s.marker == comment) {
      if (!s.data.empty() && !begins_with(s.data, encoder_comment))
        metadata.texts.push_back({"Comment", to_utf8(s.data), {}, {}});
    } else if (s.marker > app0 && s.marker <= 0xEF && !describes_coding(s)) {
      metadata.native.push_back(native_segment(s));
    }
  });
  for (const auto& [number, part] : icc) append(metadata.icc, part);
  if (is_motion_photo(file))
    metadata.native.push_back({PictureKind::other, "the video of the motion photo", {}, {}});
}

ByteVector embed_in_jpeg(ByteView file, const PictureMetadata& metadata) {
  if (file.size() < 4 || file[1] != start_of_image) throw InternalError("not a JPEG file");
  ByteVector out = to_vector(file.first(2));
  out.reserve(file.size() + metadata.exif.size() + metadata.icc.size() + metadata.xmp.size() +
              4096);
  bool written = false;
  const auto write_once = [&](ByteView jfif_data) {
    if (std::exchange(written, true)) return;
    if (metadata.resolution)
      write_segment(out, app0, {}, with_resolution(jfif_data, *metadata.resolution));
    else if (!jfif_data.empty())
      write_segment(out, app0, {}, jfif_data);
    write_blocks(out, metadata);
  };
  const std::size_t scan = visit_segments(file, [&](const Segment& segment) {
    const bool is_jfif = segment.marker == app0 && begins_with(segment.data, jfif);
    write_once(is_jfif ? segment.data : ByteView());
    if (!is_jfif && !is_replaced(segment, metadata))
      append(out, file.subspan(segment.begin, segment.end - segment.begin));
  });
  write_once({});
  append(out, file.subspan(scan));
  if (!metadata.pictures.empty()) append_pictures(out, metadata.pictures);
  return out;
}

}  // namespace lull::io
