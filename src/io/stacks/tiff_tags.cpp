// Copies the tags of TIFF pages from one file to another.

#include <tiffio.h>

#include <algorithm>
#include <array>

#include "io/stacks/tiff_file.h"

namespace lull::io {
namespace {

/// Tags whose values are offsets in the file. The data at these offsets are not copied.
constexpr std::array<std::uint32_t, 4> offset_tags = {TIFFTAG_SUBIFD, TIFFTAG_EXIFIFD,
                                                      TIFFTAG_GPSIFD, TIFFTAG_INTEROPERABILITYIFD};

template <class T>
void copy(TIFF* from, TIFF* to, std::uint32_t tag) {
  T value{};
  if (TIFFGetField(from, tag, &value)) TIFFSetField(to, tag, value);
}

/// TIFFSetField() expects rationals and floats as double.
void copy_real(TIFF* from, TIFF* to, std::uint32_t tag) {
  float value = 0;
  if (TIFFGetField(from, tag, &value)) TIFFSetField(to, tag, static_cast<double>(value));
}

bool is_lossless(std::uint16_t codec) {
  constexpr std::uint16_t kept[] = {
      COMPRESSION_NONE,     COMPRESSION_LZW,  COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
      COMPRESSION_PACKBITS, COMPRESSION_LZMA, COMPRESSION_ZSTD};
  return std::ranges::find(kept, codec) != std::end(kept);
}

std::uint16_t copy_codec(TIFF* from, TIFF* to, const TiffPage& page,
                         std::vector<std::string>& changed) {
  std::uint16_t codec = COMPRESSION_NONE;
  TIFFGetField(from, TIFFTAG_COMPRESSION, &codec);
  if (!is_lossless(codec) || !TIFFIsCODECConfigured(codec)) {
    const TIFFCodec* known = TIFFFindCODEC(codec);
    changed.push_back(std::string("the compression ") + (known ? known->name : "of the input") +
                      " of TIFF pages (written as Deflate)");
    codec = TIFFIsCODECConfigured(COMPRESSION_ADOBE_DEFLATE) ? COMPRESSION_ADOBE_DEFLATE
                                                             : COMPRESSION_LZW;
  }
  TIFFSetField(to, TIFFTAG_COMPRESSION, codec);
  const bool predicts = codec == COMPRESSION_LZW || codec == COMPRESSION_ADOBE_DEFLATE ||
                        codec == COMPRESSION_DEFLATE || codec == COMPRESSION_ZSTD;
  std::uint16_t predictor = PREDICTOR_NONE;
  if (predicts && TIFFGetField(from, TIFFTAG_PREDICTOR, &predictor) && size_of(page.type) <= 4)
    TIFFSetField(to, TIFFTAG_PREDICTOR, predictor);
  return codec;
}

/// Copies the size of strips or tiles. libtiff reads tiles of any size, but writes only sizes that
/// the standard allows.
void copy_strip_layout(TIFF* from, TIFF* to, const TiffPage& page) {
  std::uint32_t width = 0, height = 0, rows = 0;
  if (TIFFIsTiled(from) && TIFFGetField(from, TIFFTAG_TILEWIDTH, &width) &&
      TIFFGetField(from, TIFFTAG_TILELENGTH, &height) && width > 0 && height > 0 &&
      width % 16 == 0 && height % 16 == 0) {
    TIFFSetField(to, TIFFTAG_TILEWIDTH, width);
    TIFFSetField(to, TIFFTAG_TILELENGTH, height);
    return;
  }
  if (TIFFIsTiled(from))
    rows = TIFFDefaultStripSize(to, 0);
  else
    TIFFGetFieldDefaulted(from, TIFFTAG_ROWSPERSTRIP, &rows);
  const auto all = static_cast<std::uint32_t>(page.height);
  TIFFSetField(to, TIFFTAG_ROWSPERSTRIP, rows == 0 ? all : std::min(rows, all));
}

void copy_shape(TIFF* from, TIFF* to, const TiffPage& page) {
  TIFFSetField(to, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(page.width));
  TIFFSetField(to, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(page.height));
  TIFFSetField(to, TIFFTAG_SAMPLESPERPIXEL, 1);
  for (const std::uint32_t tag :
       {TIFFTAG_BITSPERSAMPLE, TIFFTAG_SAMPLEFORMAT, TIFFTAG_PHOTOMETRIC, TIFFTAG_ORIENTATION,
        TIFFTAG_PLANARCONFIG, TIFFTAG_RESOLUTIONUNIT, TIFFTAG_MINSAMPLEVALUE,
        TIFFTAG_MAXSAMPLEVALUE, TIFFTAG_THRESHHOLDING})
    copy<std::uint16_t>(from, to, tag);
  copy<std::uint32_t>(from, to, TIFFTAG_SUBFILETYPE);
  for (const std::uint32_t tag :
       {TIFFTAG_XRESOLUTION, TIFFTAG_YRESOLUTION, TIFFTAG_XPOSITION, TIFFTAG_YPOSITION})
    copy_real(from, to, tag);
  std::uint16_t number = 0, count = 0;
  if (TIFFGetField(from, TIFFTAG_PAGENUMBER, &number, &count))
    TIFFSetField(to, TIFFTAG_PAGENUMBER, number, count);
  copy_strip_layout(from, to, page);
}

/// Copies a tag with a single number.
bool copy_single(TIFF* from, TIFF* to, std::uint32_t tag, const TIFFField& field) {
  switch (TIFFFieldDataType(&field)) {
    case TIFF_BYTE: {
      std::uint8_t value = 0;
      return TIFFGetField(from, tag, &value) && TIFFSetField(to, tag, value);
    }
    case TIFF_SHORT: {
      std::uint16_t value = 0;
      return TIFFGetField(from, tag, &value) && TIFFSetField(to, tag, value);
    }
    case TIFF_LONG: {
      std::uint32_t value = 0;
      return TIFFGetField(from, tag, &value) && TIFFSetField(to, tag, value);
    }
    case TIFF_FLOAT:
    case TIFF_RATIONAL:
    case TIFF_SRATIONAL: {
      if (TIFFFieldSetGetSize(&field) == 8) {
        double value = 0;
        return TIFFGetField(from, tag, &value) && TIFFSetField(to, tag, value);
      }
      float value = 0;
      return TIFFGetField(from, tag, &value) && TIFFSetField(to, tag, static_cast<double>(value));
    }
    default:
      return false;
  }
}

}  // namespace

/// Copies a tag that libtiff keeps in its list of further tags: texts, profiles, and tags unknown
/// to libtiff.
bool TiffWriter::copy_further_tag(TIFF* from, std::uint32_t tag) {
  TIFF* to = tiff_.get();
  const TIFFField* field = TIFFFieldWithTag(from, tag);
  if (!field || std::ranges::find(offset_tags, tag) != offset_tags.end()) return false;
  const TIFFDataType type = TIFFFieldDataType(field);
  if (type == TIFF_IFD || type == TIFF_IFD8) return false;
  if (!TIFFFindField(to, tag, TIFF_ANY)) {
    tag_names_.push_back(TIFFFieldName(field));
    const TIFFFieldInfo info{tag,  TIFF_VARIABLE2, TIFF_VARIABLE2,          type, FIELD_CUSTOM,
                             true, true,           tag_names_.back().data()};
    if (TIFFMergeFieldInfo(to, &info, 1) != 0) return false;
  }
  const TIFFField* own = TIFFFieldWithTag(to, tag);
  // TIFFGetField() and TIFFSetField() take the same arguments only if these properties agree.
  if (!own || TIFFFieldPassCount(own) != TIFFFieldPassCount(field)) return false;
  const void* values = nullptr;
  if (TIFFFieldPassCount(field)) {
    const bool wide = TIFFFieldReadCount(field) == TIFF_VARIABLE2;
    std::uint32_t count = 0;
    std::uint16_t narrow = 0;
    if (!(wide ? TIFFGetField(from, tag, &count, &values)
               : TIFFGetField(from, tag, &narrow, &values)))
      return false;
    if (!wide) count = narrow;
    if (TIFFFieldWriteCount(own) == TIFF_VARIABLE2) return TIFFSetField(to, tag, count, values);
    return count <= 0xffff && TIFFSetField(to, tag, static_cast<int>(count), values);
  }
  if (type == TIFF_ASCII || TIFFFieldReadCount(field) > 1)
    return tag != TIFFTAG_DOTRANGE && TIFFGetField(from, tag, &values) &&
           TIFFSetField(to, tag, values);
  return TIFFFieldReadCount(field) == 1 && copy_single(from, to, tag, *field);
}

std::vector<std::string> TiffWriter::copy_tags(const TiffReader& reader, const TiffPage& page) {
  TIFF* from = reader.handle();
  std::vector<std::string> changed;
  copy_codec(from, tiff_.get(), page, changed);
  copy_shape(from, tiff_.get(), page);
  for (int i = 0; i < TIFFGetTagListCount(from); ++i) {
    const std::uint32_t tag = TIFFGetTagListEntry(from, i);
    if (copy_further_tag(from, tag)) continue;
    const TIFFField* field = TIFFFieldWithTag(from, tag);
    changed.push_back("the TIFF tag " +
                      (field ? std::string(TIFFFieldName(field)) : std::to_string(tag)));
  }
  message_.clear();  // A tag that could not be set is no write error.
  return changed;
}

}  // namespace lull::io
