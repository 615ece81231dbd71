#include "io/metadata/photos.h"

#include <tiffio.h>
#include <zlib.h>

#include <cmath>
#include <exiv2/exiv2.hpp>
#include <filesystem>

namespace lull::io::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string extension_of(const std::string& path) {
  return std::filesystem::path(path).extension().string().substr(1);
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int i = 3; i >= 0; --i) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

Exiv2::ExifData exif_of(const PhotoFacts& facts) {
  Exiv2::ExifData data;
  if (!facts.make.empty()) data["Exif.Image.Make"] = facts.make;
  if (!facts.taken.empty()) data["Exif.Photo.DateTimeOriginal"] = facts.taken;
  if (!facts.latitude.empty()) {
    Exiv2::URationalValue value;
    value.read(facts.latitude);
    data["Exif.GPSInfo.GPSLatitude"].setValue(&value);
  }
  if (facts.orientation != 1)
    data["Exif.Image.Orientation"] = static_cast<std::uint16_t>(facts.orientation);
  if (facts.exif_width > 0)
    data["Exif.Photo.PixelXDimension"] = static_cast<std::uint32_t>(facts.exif_width);
  if (facts.has_thumbnail) {
    const Bytes picture{0xFF, 0xD8, 0xFF, 0xD9};
    Exiv2::ExifThumb(data).setJpegThumbnail(picture.data(), picture.size());
  }
  return data;
}

std::string xmp_of(const std::string& title) {
  Exiv2::XmpData data;
  data["Xmp.dc.title"] = title;
  std::string packet;
  Exiv2::XmpParser::encode(packet, data);
  return packet;
}

Exiv2::IptcData iptc_of(const std::string& caption) {
  Exiv2::IptcData data;
  data["Iptc.Application2.Caption"] = caption;
  return data;
}

void add_png_metadata(const std::string& path, const PhotoFacts& facts) {
  Exiv2::ExifData exif = exif_of(facts);
  if (!exif.empty()) {
    Exiv2::Blob blob;
    Exiv2::ExifParser::encode(blob, nullptr, 0, Exiv2::bigEndian, exif);
    add_png_chunk(path, "eXIf", {reinterpret_cast<const char*>(blob.data()), blob.size()});
  }
  if (!facts.xmp_title.empty())
    add_png_chunk(
        path, "iTXt",
        std::string("XML:com.adobe.xmp") + std::string(5, '\0') + xmp_of(facts.xmp_title));
  if (!facts.icc.empty()) {
    Bytes packed(compressBound(facts.icc.size()));
    uLongf size = packed.size();
    compress(packed.data(), &size, facts.icc.data(), facts.icc.size());
    add_png_chunk(
        path, "iCCP",
        std::string("x\0\0", 3) + std::string(reinterpret_cast<const char*>(packed.data()), size));
  }
  if (facts.dots_per_inch > 0) {
    const std::string metre =
        big_endian(static_cast<std::uint32_t>(std::lround(facts.dots_per_inch / 0.0254)));
    add_png_chunk(path, "pHYs", metre + metre + '\1');
  }
  if (!facts.texts.empty()) add_png_chunk(path, "tEXt", std::string("Author\0", 7) + facts.texts);
  if (facts.gamma > 0) add_png_chunk(path, "gAMA", big_endian(facts.gamma));
  if (facts.white_x > 0) {
    std::string values = big_endian(facts.white_x);
    for (const std::uint32_t value : {32900, 64000, 33000, 30000, 60000, 15000, 6000})
      values += big_endian(value);
    add_png_chunk(path, "cHRM", values);
  }
}

void add_with_libtiff(const std::string& path, const PhotoFacts& facts) {
  TIFF* tiff = TIFFOpen(path.c_str(), "r+");
  if (!facts.icc.empty())
    TIFFSetField(tiff, TIFFTAG_ICCPROFILE, static_cast<std::uint32_t>(facts.icc.size()),
                 facts.icc.data());
  if (facts.dots_per_inch > 0) {
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, facts.dots_per_inch);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, facts.dots_per_inch);
  }
  TIFFRewriteDirectory(tiff);
  TIFFClose(tiff);
}

/// FFmpeg's encoder may omit the JFIF segment.
void add_jfif(const std::string& path) {
  Bytes file = read_file(path);
  const Bytes jfif{0xFF, 0xE0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 2, 0, 0, 1, 0, 1, 0, 0};
  if (file[3] != 0xE0) file.insert(file.begin() + 2, jfif.begin(), jfif.end());
  write_file(path, file);
}

void set_jfif_density(const std::string& path, double dots_per_inch) {
  Bytes file = read_file(path);
  const auto value = static_cast<int>(std::lround(dots_per_inch));
  file[13] = 1;
  file[14] = file[16] = static_cast<std::uint8_t>(value >> 8);
  file[15] = file[17] = static_cast<std::uint8_t>(value);
  write_file(path, file);
}

std::string text_of(const Exiv2::ExifData& data, const char* key) {
  const auto found = data.findKey(Exiv2::ExifKey(key));
  return found == data.end() ? "" : found->toString();
}

void read_exif_facts(const Exiv2::ExifData& data, PhotoFacts& facts) {
  facts.make = text_of(data, "Exif.Image.Make");
  facts.taken = text_of(data, "Exif.Photo.DateTimeOriginal");
  facts.latitude = text_of(data, "Exif.GPSInfo.GPSLatitude");
  if (const std::string text = text_of(data, "Exif.Image.Orientation"); !text.empty())
    facts.orientation = std::stoi(text);
  if (const std::string text = text_of(data, "Exif.Photo.PixelXDimension"); !text.empty())
    facts.exif_width = std::stoi(text);
  for (const Exiv2::Exifdatum& datum : data)
    facts.has_thumbnail |= datum.groupName() == "Thumbnail";
  for (const char* key :
       {"Exif.Image.ImageDescription", "Exif.Image.Artist", "Exif.Photo.UserComment"})
    facts.texts += text_of(data, key) + "\n";
  const auto rational = [&](const char* key) {
    const auto found = data.findKey(Exiv2::ExifKey(key));
    if (found == data.end() || found->toRational().second == 0) return 0.0;
    return static_cast<double>(found->toRational().first) / found->toRational().second;
  };
  if (const double dpi = rational("Exif.Image.XResolution"); dpi > 0) facts.dots_per_inch = dpi;
  if (const double gamma = rational("Exif.Photo.Gamma"); gamma > 0)
    facts.gamma = static_cast<std::uint32_t>(std::lround(100000 / gamma));
  facts.white_x =
      static_cast<std::uint32_t>(std::lround(100000 * rational("Exif.Image.WhitePoint")));
}

void read_png_facts(const std::string& path, PhotoFacts& facts) {
  for (const std::string& exif : png_chunks(path, "eXIf")) {
    Exiv2::ExifData data;
    Exiv2::ExifParser::decode(data, reinterpret_cast<const Exiv2::byte*>(exif.data()),
                              static_cast<std::uint32_t>(exif.size()));
    read_exif_facts(data, facts);
  }
  for (const std::string& size : png_chunks(path, "pHYs"))
    if (size[8] == 1) facts.dots_per_inch = number_at(size, 0) * 0.0254;
  for (const std::string& gamma : png_chunks(path, "gAMA")) facts.gamma = number_at(gamma, 0);
  for (const std::string& white : png_chunks(path, "cHRM")) facts.white_x = number_at(white, 0);
  for (const char* type : {"tEXt", "iTXt", "zTXt"})
    for (const std::string& text : png_chunks(path, type)) facts.texts += text + "\n";
}

}  // namespace

std::vector<std::uint8_t> rgb_profile() {
  Bytes profile(300, 7);
  const std::string size = big_endian(300), channels = "RGB ";
  std::ranges::copy(size, profile.begin());
  std::ranges::copy(channels, profile.begin() + 16);
  return profile;
}

void make_picture(const std::string& path, const std::string& extension, int width, int height) {
  ClipSpec spec = png_spec();
  spec.width = width;
  spec.height = height;
  spec.encoder = extension == "jpg"    ? "mjpeg"
                 : extension == "tif"  ? "tiff"
                 : extension == "webp" ? "libwebp"
                                       : "png";
  spec.format = extension == "jpg"    ? AV_PIX_FMT_YUVJ444P
                : extension == "webp" ? AV_PIX_FMT_BGRA
                                      : AV_PIX_FMT_RGB24;
  make_clip(path, spec);
  if (extension == "jpg") add_jfif(path);
}

void add_metadata(const std::string& path, const PhotoFacts& facts) {
  const std::string extension = extension_of(path);
  if (extension == "tif") add_with_libtiff(path, facts);
  if (extension == "jpg" && facts.dots_per_inch > 0) set_jfif_density(path, facts.dots_per_inch);
  if (extension == "png") add_png_metadata(path, facts);
  if (extension == "png" && facts.caption.empty()) return;
  const auto image = Exiv2::ImageFactory::open(path);
  image->readMetadata();
  if (extension != "png") {
    Exiv2::ExifData exif = exif_of(facts);
    for (const Exiv2::Exifdatum& datum : exif) image->exifData().add(datum);
    if (!facts.xmp_title.empty()) image->xmpData()["Xmp.dc.title"] = facts.xmp_title;
    if (!facts.texts.empty()) image->setComment(facts.texts);
    if (!facts.icc.empty() && extension != "tif") {
      Exiv2::DataBuf profile(facts.icc.data(), static_cast<long>(facts.icc.size()));
      image->setIccProfile(profile);
    }
  }
  if (!facts.caption.empty()) image->setIptcData(iptc_of(facts.caption));
  image->writeMetadata();
}

PhotoFacts read_photo(const std::string& path) {
  PhotoFacts facts;
  const std::string extension = extension_of(path);
  if (extension != "png" && extension != "jpg" && extension != "tif" && extension != "webp")
    return facts;
  const auto image = Exiv2::ImageFactory::open(path);
  image->readMetadata();
  if (extension == "jpg") {
    const Bytes file = read_file(path);
    if (file[3] == 0xE0 && file[13] == 1) facts.dots_per_inch = file[14] << 8 | file[15];
    facts.texts = image->comment() + "\n";
  }
  if (extension == "png")
    read_png_facts(path, facts);
  else
    read_exif_facts(image->exifData(), facts);
  const auto title = image->xmpData().findKey(Exiv2::XmpKey("Xmp.dc.title"));
  if (title != image->xmpData().end()) facts.xmp_title = title->toString(0);
  const auto caption = image->iptcData().findKey(Exiv2::IptcKey("Iptc.Application2.Caption"));
  if (caption != image->iptcData().end()) facts.caption = caption->toString();
#if EXIV2_TEST_VERSION(0, 28, 0)
  const Exiv2::DataBuf& icc = image->iccProfile();
  if (!icc.empty()) facts.icc.assign(icc.c_data(), icc.c_data() + icc.size());
#else
  const Exiv2::DataBuf& icc = *image->iccProfile();
  if (icc.pData_) facts.icc.assign(icc.pData_, icc.pData_ + icc.size_);
#endif
  return facts;
}

void add_png_chunk(const std::string& path, std::string_view type, std::string_view data) {
  Bytes file = read_file(path);
  const std::string body = std::string(type) + std::string(data);
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  const std::string chunk = big_endian(static_cast<std::uint32_t>(data.size())) + body +
                            big_endian(static_cast<std::uint32_t>(sum));
  constexpr int after_header = 8 + 25;
  file.insert(file.begin() + after_header, chunk.begin(), chunk.end());
  write_file(path, file);
}

std::vector<std::string> png_chunks(const std::string& path, std::string_view type) {
  const Bytes bytes = read_file(path);
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string> found;
  for (std::size_t at = 8; at + 12 <= file.size(); at += 12 + number_at(file, at))
    if (file.substr(at + 4, 4) == type)
      found.emplace_back(file.substr(at + 8, number_at(file, at)));
  return found;
}

Copied copy_photo(const std::string& from, const std::string& to, SinkOptions options) {
  options.overwrite = true;
  const auto source = open_source(from);
  const auto sink = open_sink(to, *source, options);
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  return {sink->losses(), sink->notes()};
}

}  // namespace lull::io::test
