// Reads and changes EXIF and XMP data with Exiv2. The base class of Exiv2's exceptions is
// std::exception. Damaged data count as absent.

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>

#include "io/metadata/exif.h"
#include "io/metadata/exiv2.h"

namespace lull::io {
namespace {

using Exiv2::ExifData;
using Exiv2::ExifKey;

constexpr const char *orientation_key = "Exif.Image.Orientation",
                     *comment_key = "Exif.Photo.UserComment", *gamma_key = "Exif.Photo.Gamma",
                     *white_key = "Exif.Image.WhitePoint",
                     *primaries_key = "Exif.Image.PrimaryChromaticities",
                     *x_resolution_key = "Exif.Image.XResolution",
                     *y_resolution_key = "Exif.Image.YResolution",
                     *resolution_unit_key = "Exif.Image.ResolutionUnit";

/// Keywords of texts, each with the EXIF tag that stores the text.
constexpr std::pair<std::string_view, const char*> text_keys[] = {
    {"Description", "Exif.Image.ImageDescription"},
    {"Author", "Exif.Image.Artist"},
    {"Copyright", "Exif.Image.Copyright"},
    {"Software", "Exif.Image.Software"},
    {"Make", "Exif.Image.Make"},
    {"Source", "Exif.Image.Model"},
    {"DateTime", "Exif.Image.DateTime"}};

const Exiv2::Exifdatum* find(const ExifData& data, const char* key) {
  const auto found = data.findKey(ExifKey(key));
  return found == data.end() || found->count() == 0 ? nullptr : &*found;
}

double number_of(const Exiv2::Exifdatum& datum, int index = 0) {
  const Exiv2::Rational value = datum.toRational(index);
  return value.second == 0 ? 0 : static_cast<double>(value.first) / value.second;
}

int orientation_of(const ExifData& data) {
  const auto* datum = find(data, orientation_key);
  const std::int64_t value = datum ? integer_of(*datum) : 1;
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

std::optional<Resolution> resolution_of(const ExifData& data) {
  const auto *x = find(data, x_resolution_key), *y = find(data, y_resolution_key),
             *unit = find(data, resolution_unit_key);
  if (!x || !y) return std::nullopt;
  constexpr int none = 1, centimetre = 3;
  const std::int64_t kind = unit ? integer_of(*unit) : 2;
  const double scale = kind == centimetre ? 2.54 : 1;
  const Resolution found{number_of(*x) * scale, number_of(*y) * scale};
  if (kind == none || !(found.x > 0) || !(found.y > 0)) return std::nullopt;
  return found;
}

// Returns the gamma of EXIF data in the form of the PNG chunk gAMA: the inverse of the EXIF value,
// in units of 1/100000.
std::optional<std::uint32_t> gamma_of(const ExifData& data) {
  const auto* datum = find(data, gamma_key);
  const double exponent = datum ? number_of(*datum) : 0;
  if (!(exponent > 0.01) || exponent > 100) return std::nullopt;
  return static_cast<std::uint32_t>(std::lround(100000 / exponent));
}

std::optional<Chromaticities> chromaticities_of(const ExifData& data) {
  const auto *white = find(data, white_key), *primaries = find(data, primaries_key);
  if (!white || !primaries || white->count() != 2 || primaries->count() != 6) return std::nullopt;
  Chromaticities found;
  for (int i = 0; i < 8; ++i) {
    const double value = i < 2 ? number_of(*white, i) : number_of(*primaries, i - 2);
    if (!(value >= 0) || value > 10) return std::nullopt;
    found[i] = static_cast<std::uint32_t>(std::lround(100000 * value));
  }
  return found;
}

bool has_thumbnail(const ExifData& data) {
  return std::ranges::any_of(
      data, [](const Exiv2::Exifdatum& datum) { return datum.groupName() == "Thumbnail"; });
}

bool has_comment(const ExifData& data) {
  const auto* datum = find(data, comment_key);
  if (!datum) return false;
  const auto* comment = dynamic_cast<const Exiv2::CommentValue*>(&datum->value());
  const std::string text = comment ? comment->comment() : datum->toString();
  return text.find_first_not_of(std::string_view(" \0", 2)) != text.npos;
}

/// Sets an existing field to `value`. Returns whether the value changed.
bool update(ExifData& data, const char* key, int value) {
  const auto found = data.findKey(ExifKey(key));
  if (found == data.end() || (found->count() > 0 && integer_of(*found) == value)) return false;
  *found = static_cast<std::uint32_t>(value);
  return true;
}

bool set_orientation(ExifData& data, int orientation) {
  if (orientation_of(data) == orientation) return false;
  data[orientation_key] = static_cast<std::uint16_t>(orientation);
  return true;
}

void set_rationals(ExifData& data, const char* key, std::span<const std::uint32_t> numerators,
                   std::uint32_t denominator) {
  Exiv2::URationalValue value;
  for (const std::uint32_t numerator : numerators)
    value.value_.emplace_back(numerator, denominator);
  data[key].setValue(&value);
}

bool set_resolution(ExifData& data, const std::optional<Resolution>& resolution) {
  if (!resolution || find(data, x_resolution_key)) return false;
  const auto rational = [](double value) {
    return Exiv2::URational(static_cast<std::uint32_t>(std::lround(std::min(value, 1e5) * 10000)),
                            10000);
  };
  data[x_resolution_key] = rational(resolution->x);
  data[y_resolution_key] = rational(resolution->y);
  data[resolution_unit_key] = std::uint16_t{2};
  return true;
}

bool set_colour(ExifData& data, const ExifChanges& changes) {
  bool changed = false;
  if (changes.gamma && *changes.gamma > 0 && !find(data, gamma_key)) {
    data[gamma_key] = Exiv2::URational(100000, *changes.gamma);
    changed = true;
  }
  if (changes.chromaticities && !find(data, white_key)) {
    const std::span<const std::uint32_t> values(*changes.chromaticities);
    set_rationals(data, white_key, values.first(2), 100000);
    set_rationals(data, primaries_key, values.subspan(2), 100000);
    changed = true;
  }
  constexpr const char* space_key = "Exif.Photo.ColorSpace";
  if (changes.is_srgb && !find(data, space_key)) {
    data[space_key] = std::uint16_t{1};
    changed = true;
  }
  return changed;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c < 0x80; });
}

/// Moves each text with a matching keyword to its EXIF field. Returns whether the data changed.
bool set_fields(ExifData& data, std::vector<PictureText>& texts) {
  const auto store = [&](const PictureText& text) {
    for (const auto& [keyword, key] : text_keys)
      if (text.keyword == keyword) {
        const auto* old = find(data, key);
        if (old) return old->toString() == text.text;
        data[key] = text.text;
        return true;
      }
    return false;
  };
  return std::erase_if(texts, store) > 0;
}

bool set_comment(ExifData& data, std::vector<PictureText>& texts) {
  if (texts.empty() || has_comment(data)) return false;
  std::string all;
  for (const PictureText& text : texts) {
    if (!all.empty()) all += '\n';
    all += (text.keyword == "Comment" ? "" : text.keyword + ": ") + text.text;
  }
  Exiv2::CommentValue value;
  if (value.read((is_ascii(all) ? "charset=Ascii " : "charset=Unicode ") + all) != 0) return false;
  data[comment_key].setValue(&value);
  texts.clear();
  return true;
}

bool remove_thumbnail(ExifData& data) {
  if (!has_thumbnail(data)) return false;
  Exiv2::ExifThumb(data).erase();
  for (auto datum = data.begin(); datum != data.end();)
    datum = datum->groupName() == "Thumbnail" ? data.erase(datum) : std::next(datum);
  return true;
}

bool apply(ExifData& data, ExifChanges& changes) {
  bool changed = remove_thumbnail(data);
  changed |= set_orientation(data, changes.orientation);
  for (const char* key : {"Exif.Photo.PixelXDimension", "Exif.Image.ImageWidth"})
    changed |= update(data, key, changes.width);
  for (const char* key : {"Exif.Photo.PixelYDimension", "Exif.Image.ImageLength"})
    changed |= update(data, key, changes.height);
  changed |= set_resolution(data, changes.resolution);
  changed |= set_colour(data, changes);
  changed |= set_fields(data, changes.texts);
  if (changes.uses_comment) changed |= set_comment(data, changes.texts);
  return changed;
}

/// Sets an existing XMP property to `value`. Returns whether the packet changed.
bool update(Exiv2::XmpData& data, const char* key, int value) {
  const auto found = data.findKey(Exiv2::XmpKey(key));
  if (found == data.end() || found->toString() == std::to_string(value)) return false;
  *found = std::to_string(value);
  return true;
}

/// Removes Ultra HDR's XMP data: the gain map parameters and the list of pictures.
bool remove_gain_map(Exiv2::XmpData& data) {
  constexpr std::string_view names[] = {"http://ns.adobe.com/hdr-gain-map/1.0/",
                                        "http://ns.google.com/photos/1.0/container/"};
  bool changed = false;
  for (auto property = data.begin(); property != data.end();) {
    const std::string name = Exiv2::XmpProperties::ns(property->groupName());
    const bool is_removed = std::ranges::find(names, name) != std::end(names);
    property = is_removed ? data.erase(property) : std::next(property);
    changed |= is_removed;
  }
  return changed;
}

/// Clears the flags that announce the video of a motion photo, because lull does not copy the
/// video. Returns whether the packet changed.
bool announce_no_video(Exiv2::XmpData& data) {
  constexpr std::string_view camera = "http://ns.google.com/photos/1.0/camera/";
  bool changed = false;
  for (Exiv2::Xmpdatum& property : data) {
    const std::string name = property.tagName();
    if ((name != "MotionPhoto" && name != "MicroVideo") || property.toString() == "0" ||
        Exiv2::XmpProperties::ns(property.groupName()) != camera)
      continue;
    property = std::string("0");
    changed = true;
  }
  return changed;
}

}  // namespace

bool has_exiv2() { return true; }

void prepare_exiv2() {
  static std::once_flag once;
  static std::mutex xmp_mutex;
  std::call_once(once, [] {
    Exiv2::LogMsg::setLevel(Exiv2::LogMsg::mute);
    Exiv2::XmpParser::initialize(
        [](void* mutex, bool lock) {
          auto& m = *static_cast<std::mutex*>(mutex);
          lock ? m.lock() : m.unlock();
        },
        &xmp_mutex);
#ifdef EXV_ENABLE_BMFF
    Exiv2::enableBMFF(true);
#endif
  });
}

ByteVector encode_exif(ExifData& data, ByteView original, Exiv2::ByteOrder order) {
  ByteVector copy = to_vector(original);  // a copy, because Exiv2 may change it in place
  // EXIF data from HEIF files state no byte order, so the function chooses little-endian.
  if (order == Exiv2::invalidByteOrder) order = Exiv2::littleEndian;
  Exiv2::Blob blob;
  const Exiv2::WriteMethod method =
      Exiv2::ExifParser::encode(blob, copy.empty() ? nullptr : copy.data(),
                                static_cast<std::uint32_t>(copy.size()), order, data);
  return method == Exiv2::wmIntrusive ? ByteVector(blob.begin(), blob.end()) : copy;
}

std::vector<std::string> omitted_tags(const ExifData& data, ByteView encoded) {
  constexpr long max_kept = 4096;
  std::vector<std::string> omitted;
  ExifData kept;
  if (!encoded.empty())
    Exiv2::ExifParser::decode(kept, encoded.data(), static_cast<std::uint32_t>(encoded.size()));
  for (const Exiv2::Exifdatum& datum : data)
    if (static_cast<long>(datum.size()) > max_kept &&
        kept.findKey(ExifKey(datum.key())) == kept.end())
      omitted.push_back(datum.key());
  return omitted;
}

ExifFacts read_exif(ByteView exif) {
  ExifFacts facts;
  if (exif.empty()) return facts;
  prepare_exiv2();
  try {
    ExifData data;
    if (Exiv2::ExifParser::decode(data, exif.data(), static_cast<std::uint32_t>(exif.size())) ==
        Exiv2::invalidByteOrder)
      return facts;
    facts.orientation = orientation_of(data);
    facts.resolution = resolution_of(data);
    facts.gamma = gamma_of(data);
    facts.chromaticities = chromaticities_of(data);
    facts.has_thumbnail = has_thumbnail(data);
    facts.has_comment = has_comment(data);
    facts.is_valid = true;
  } catch (const std::exception&) {
    return {};
  }
  return facts;
}

ByteVector change_exif(ByteView exif, ExifChanges& changes) {
  prepare_exiv2();
  try {
    ExifData data;
    auto order = Exiv2::littleEndian;
    if (!exif.empty())
      order = Exiv2::ExifParser::decode(data, exif.data(), static_cast<std::uint32_t>(exif.size()));
    if (order == Exiv2::invalidByteOrder) return {};
    if (!apply(data, changes)) return to_vector(exif);
    const ByteVector changed = encode_exif(data, exif, order);
    changes.is_too_long = !omitted_tags(data, changed).empty();
    return changes.is_too_long ? ByteVector() : changed;
  } catch (const std::exception&) {
    return {};
  }
}

ByteVector change_xmp(ByteView xmp, const XmpChanges& changes) {
  prepare_exiv2();
  try {
    Exiv2::XmpData data;
    if (Exiv2::XmpParser::decode(data, std::string(text_view(xmp))) != 0) return to_vector(xmp);
    bool changed = update(data, "Xmp.tiff.Orientation", changes.orientation);
    for (const char* key : {"Xmp.tiff.ImageWidth", "Xmp.exif.PixelXDimension"})
      changed |= update(data, key, changes.width);
    for (const char* key : {"Xmp.tiff.ImageLength", "Xmp.exif.PixelYDimension"})
      changed |= update(data, key, changes.height);
    if (changes.drops_gain_map) changed |= remove_gain_map(data);
    changed |= announce_no_video(data);
    std::string packet;
    if (!changed || Exiv2::XmpParser::encode(packet, data) != 0) return to_vector(xmp);
    return to_vector(byte_view(packet));
  } catch (const std::exception&) {
    return to_vector(xmp);
  }
}

}  // namespace lull::io
