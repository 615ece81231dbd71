// Reads and writes the metadata of TIFF and HEIF files with Exiv2.

#include <tiff.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>

#include "core/error.h"
#include "io/metadata/exiv2.h"
#include "io/metadata/formats.h"

namespace lull::io {
namespace {

/// Keys of the TIFF tags for ICC profile, XMP packet, IPTC data and Photoshop data. lull stores
/// these data separately from the EXIF data.
constexpr std::string_view separate_keys[] = {"Exif.Image.InterColorProfile",
                                              "Exif.Image.XMLPacket", "Exif.Image.IPTCNAA",
                                              "Exif.Image.ImageResources"};
/// TIFF tags that describe how a file stores its samples. The output stores its samples
/// differently, so these tags do not apply to it.
constexpr int layout_tags[] = {TIFFTAG_SUBFILETYPE,
                               TIFFTAG_OSUBFILETYPE,
                               TIFFTAG_IMAGEWIDTH,
                               TIFFTAG_IMAGELENGTH,
                               TIFFTAG_BITSPERSAMPLE,
                               TIFFTAG_COMPRESSION,
                               TIFFTAG_PHOTOMETRIC,
                               TIFFTAG_FILLORDER,
                               TIFFTAG_STRIPOFFSETS,
                               TIFFTAG_SAMPLESPERPIXEL,
                               TIFFTAG_ROWSPERSTRIP,
                               TIFFTAG_STRIPBYTECOUNTS,
                               TIFFTAG_MINSAMPLEVALUE,
                               TIFFTAG_MAXSAMPLEVALUE,
                               TIFFTAG_PLANARCONFIG,
                               TIFFTAG_GROUP3OPTIONS,
                               TIFFTAG_GROUP4OPTIONS,
                               TIFFTAG_PREDICTOR,
                               TIFFTAG_COLORMAP,
                               TIFFTAG_HALFTONEHINTS,
                               TIFFTAG_TILEWIDTH,
                               TIFFTAG_TILELENGTH,
                               TIFFTAG_TILEOFFSETS,
                               TIFFTAG_TILEBYTECOUNTS,
                               TIFFTAG_SUBIFD,
                               TIFFTAG_EXTRASAMPLES,
                               TIFFTAG_SAMPLEFORMAT,
                               TIFFTAG_SMINSAMPLEVALUE,
                               TIFFTAG_SMAXSAMPLEVALUE,
                               TIFFTAG_JPEGTABLES,
                               TIFFTAG_JPEGPROC,
                               TIFFTAG_JPEGIFOFFSET,
                               TIFFTAG_JPEGIFBYTECOUNT,
                               TIFFTAG_JPEGRESTARTINTERVAL,
                               TIFFTAG_JPEGQTABLES,
                               TIFFTAG_JPEGDCTABLES,
                               TIFFTAG_JPEGACTABLES,
                               TIFFTAG_YCBCRCOEFFICIENTS,
                               TIFFTAG_YCBCRSUBSAMPLING,
                               TIFFTAG_YCBCRPOSITIONING,
                               TIFFTAG_REFERENCEBLACKWHITE};

/// Returns whether a tag describes the storage of samples, or belongs to another page. lull does
/// not copy such tags. Exiv2 names the second page "Thumbnail", and sub-images "SubImage1",
/// "SubImage2" and so on.
bool is_of_storage(const Exiv2::Exifdatum& datum) {
  const std::string group = datum.groupName();
  return group == "Thumbnail" || group.starts_with("SubImage") ||
         (group == "Image" && std::ranges::find(layout_tags, datum.tag()) != std::end(layout_tags));
}

/// Returns whether the data are empty, or contain only the default orientation. Many programs write
/// the default orientation.
bool is_default(const Exiv2::ExifData& data) {
  return std::ranges::all_of(data, [](const Exiv2::Exifdatum& datum) {
    return datum.key() == "Exif.Image.Orientation" && integer_of(datum) == 1;
  });
}

ByteVector value_of(const Exiv2::ExifData& data, const char* key) {
  const auto found = data.findKey(Exiv2::ExifKey(key));
  if (found == data.end() || found->size() == 0) return {};
  ByteVector bytes(static_cast<std::size_t>(found->size()));
  found->copy(bytes.data(), Exiv2::invalidByteOrder);
  return bytes;
}

/// Reads the metadata of a TIFF file (`is_tiff`) or a HEIF file.
void read_with_exiv2(ByteView file, PictureMetadata& metadata, bool is_tiff) {
  prepare_exiv2();
  try {
    const auto image = open_image(file);
    Exiv2::ExifData data = image->exifData();
    metadata.icc = profile_of(*image);
    if (metadata.icc.empty()) metadata.icc = value_of(data, "Exif.Image.InterColorProfile");
    metadata.xmp = to_vector(byte_view(image->xmpPacket()));
    metadata.photoshop = value_of(data, "Exif.Image.ImageResources");
    if (iptc_of(metadata.photoshop).empty() && image->iptcData().count() > 0)
      append(metadata.photoshop,
             photoshop_of(bytes_of(Exiv2::IptcParser::encode(image->iptcData()))));
    for (const std::string_view key : separate_keys)
      if (const auto found = data.findKey(Exiv2::ExifKey(std::string(key))); found != data.end())
        data.erase(found);
    if (is_tiff)
      for (auto datum = data.begin(); datum != data.end();)
        datum = is_of_storage(*datum) ? data.erase(datum) : std::next(datum);
    if (is_default(data)) return;
    metadata.exif = encode_exif(data, {}, image->byteOrder());
    for (const std::string& tag : omitted_tags(data, metadata.exif))
      metadata.native.push_back({PictureKind::other, "the long tag " + tag, {}, {}});
  } catch (const std::exception&) {
    // Damaged metadata are no error. The decoder reports damage of the picture itself.
  }
}

void set_with_exiv2(Exiv2::Image& image, const PictureMetadata& metadata) {
  Exiv2::ExifData data;
  if (!metadata.exif.empty())
    Exiv2::ExifParser::decode(data, metadata.exif.data(),
                              static_cast<std::uint32_t>(metadata.exif.size()));
  if (!metadata.photoshop.empty())
    data["Exif.Image.ImageResources"] = std::string();  // the type must be bytes
  if (const auto blocks = data.findKey(Exiv2::ExifKey("Exif.Image.ImageResources"));
      blocks != data.end()) {
    Exiv2::DataValue value(metadata.photoshop.data(), metadata.photoshop.size(),
                           Exiv2::invalidByteOrder, Exiv2::unsignedByte);
    blocks->setValue(&value);
  }
  const ByteVector iptc = iptc_of(metadata.photoshop);
  Exiv2::IptcData records;
  if (!iptc.empty())
    Exiv2::IptcParser::decode(records, iptc.data(), static_cast<std::uint32_t>(iptc.size()));
  image.setExifData(data);
  image.setIptcData(records);
  if (!metadata.xmp.empty()) {
    image.setXmpPacket(std::string(text_view(metadata.xmp)));
    image.writeXmpFromPacket(true);
  }
}

}  // namespace

void read_tiff(ByteView file, PictureMetadata& metadata) {
  constexpr std::string_view big_tiffs[] = {{"II+\0", 4}, {"MM\0+", 4}};
  if (begins_with(file, big_tiffs[0]) || begins_with(file, big_tiffs[1]))
    read_tiff_tags(file, metadata);
  else
    read_with_exiv2(file, metadata, true);
}
void read_heif(ByteView file, PictureMetadata& metadata) { read_with_exiv2(file, metadata, false); }

ByteVector with_exif(ByteView tiff, const PictureMetadata& metadata) {
  prepare_exiv2();
  try {
    const auto image = open_image(tiff);
    set_with_exiv2(*image, metadata);
    image->writeMetadata();
    Exiv2::BasicIo& io = image->io();
    io.open();
    return bytes_of(io.read(static_cast<long>(io.size())));
  } catch (const std::exception& error) {
    throw IoError(std::string("cannot write metadata to a TIFF file (") + error.what() + ")");
  }
}

}  // namespace lull::io
