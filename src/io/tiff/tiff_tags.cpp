// Copies the tags of TIFF pages from one file to another.

#include <algorithm>
#include <array>
#include <optional>

#include "io/tiff/sub_directories.h"
#include "io/tiff/tiff_writer.h"

namespace lull::io {
namespace {

/// Tags with file offsets, for which lull writes new values.
constexpr std::array<std::uint32_t, 4> offset_tags = {TIFFTAG_SUBIFD, TIFFTAG_EXIFIFD,
                                                      TIFFTAG_GPSIFD, TIFFTAG_INTEROPERABILITYIFD};
/// Private tags that libtiff cannot copy: the tags UIC1 to UIC4 of MetaMorph, and the tag of Zeiss
/// LSM. The values of these tags contain file offsets, or occupy more bytes than the data type and
/// the count of the tag specify.
constexpr std::array<std::uint32_t, 5> private_tags = {33628, 33629, 33630, 33631, 34412};
/// Tags that refer to sub-directories which lull copies. lull does not copy sub-images, because it
/// does not denoise them.
constexpr std::array<std::uint32_t, 3> copied_directories = {TIFFTAG_EXIFIFD, TIFFTAG_GPSIFD,
                                                             TIFFTAG_INTEROPERABILITYIFD};

/// The text in TiffChanges::losses about the layers of Photoshop. lull does not copy these layers,
/// because Photoshop shows the layers of a file instead of its samples. The copied layers would
/// hide the filtered samples.
constexpr const char* lost_layers =
    "the layers of Photoshop (they show the picture before denoising)";

template <class T>
void copy(TIFF* from, TIFF* to, std::uint32_t tag) {
  T value{};
  if (TIFFGetField(from, tag, &value)) TIFFSetField(to, tag, value);
}

/// Copies a rational or float tag. TIFFSetField() expects a double, although TIFFGetField() returns
/// a float.
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

/// Sets the codec of the page, and a predictor if the codec supports predictors. The function omits
/// the floating-point predictor if libtiff must swap bytes, because libtiff 4.5 would then store
/// wrong samples.
void set_codec(TIFF* to, std::uint16_t codec, std::uint16_t predictor) {
  TIFFSetField(to, TIFFTAG_COMPRESSION, codec);
  const bool is_wrong = predictor == PREDICTOR_FLOATINGPOINT && TIFFIsByteSwapped(to) != 0;
  const bool predicts =
      !is_wrong &&
      (codec == COMPRESSION_LZW || codec == COMPRESSION_ADOBE_DEFLATE ||
       codec == COMPRESSION_DEFLATE || codec == COMPRESSION_ZSTD || codec == COMPRESSION_LZMA);
  if (predicts && predictor != 0) TIFFSetField(to, TIFFTAG_PREDICTOR, predictor);
}

/// Returns the predictor for samples of this layout; 0 if libtiff has no such predictor.
std::uint16_t predictor_of(const TiffLayout& layout) {
  if (layout.is_float()) return PREDICTOR_FLOATINGPOINT;
  return layout.bits == 8 || layout.bits == 16 || layout.bits == 32 ? PREDICTOR_HORIZONTAL : 0;
}

std::uint16_t default_codec() {
  return TIFFIsCODECConfigured(COMPRESSION_ADOBE_DEFLATE) ? COMPRESSION_ADOBE_DEFLATE
                                                          : COMPRESSION_LZW;
}

void copy_codec(TIFF* from, TIFF* to, const TiffLayout& from_layout, const TiffLayout& layout,
                TiffChanges& changes) {
  const auto codec = tiff_tag<std::uint16_t>(from, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  std::uint16_t predictor = 0;
  if (is_lossless(codec) && TIFFIsCODECConfigured(codec)) {
    // Some versions of libtiff do not implement predictors for samples of more than 32 bits.
    const bool same = from_layout.bits == layout.bits && from_layout.form == layout.form;
    if (TIFFGetField(from, TIFFTAG_PREDICTOR, &predictor) && !same)
      predictor = predictor == PREDICTOR_NONE ? 0 : predictor_of(layout);
    return set_codec(to, codec, layout.bits <= 32 ? predictor : 0);
  }
  const TIFFCodec* known = TIFFFindCODEC(codec);
  changes.notes.push_back(std::string("the compression ") + (known ? known->name : "of the input") +
                          " of TIFF pages becomes Deflate, which is lossless");
  set_codec(to, default_codec(), 0);
}

/// Copies the size of strips or tiles. If the TIFF standard forbids the size of the tiles, the
/// output has strips, because libtiff does not write such tiles.
void copy_strip_layout(TIFF* from, TIFF* to, const TiffLayout& layout) {
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
  const auto all = static_cast<std::uint32_t>(layout.height);
  TIFFSetField(to, TIFFTAG_ROWSPERSTRIP, rows == 0 ? all : std::min(rows, all));
}

/// Sets the tags that describe samples.
void describe_samples(TIFF* to, const TiffLayout& layout) {
  TIFFSetField(to, TIFFTAG_BITSPERSAMPLE, layout.bits);
  TIFFSetField(to, TIFFTAG_SAMPLEFORMAT, layout.form);
  TIFFSetField(to, TIFFTAG_PHOTOMETRIC, layout.photometric);
  TIFFSetField(to, TIFFTAG_PLANARCONFIG,
               layout.is_separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
}

void set_size(TIFF* to, const TiffLayout& layout) {
  TIFFSetField(to, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(layout.width));
  TIFFSetField(to, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(layout.height));
  TIFFSetField(to, TIFFTAG_SAMPLESPERPIXEL, layout.samples());
}

/// Copies the types of the extra samples if their number is unchanged. Otherwise sets only the type
/// of the alpha sample.
void describe_extra(TIFF* from, TIFF* to, const TiffLayout& layout) {
  if (layout.extra == 0) return;
  std::vector<std::uint16_t> kinds(layout.extra, EXTRASAMPLE_UNSPECIFIED);
  std::uint16_t count = 0;
  const std::uint16_t* known = nullptr;
  if (from && TIFFGetField(from, TIFFTAG_EXTRASAMPLES, &count, &known) && count == kinds.size())
    kinds.assign(known, known + count);
  else if (layout.alpha >= 0)
    kinds[layout.alpha - layout.colours] = EXTRASAMPLE_UNASSALPHA;
  TIFFSetField(to, TIFFTAG_EXTRASAMPLES, layout.extra, kinds.data());
}

/// Copies the tags that libtiff stores in fixed fields. Does not set default values for missing
/// tags. If `has_same_samples` is true, the function also copies the tags that describe samples.
void copy_known_tags(TIFF* from, TIFF* to, bool has_same_samples, const TiffLayout& layout) {
  if (has_same_samples) {
    for (const std::uint32_t tag :
         {TIFFTAG_BITSPERSAMPLE, TIFFTAG_SAMPLEFORMAT, TIFFTAG_PHOTOMETRIC, TIFFTAG_PLANARCONFIG,
          TIFFTAG_MINSAMPLEVALUE, TIFFTAG_MAXSAMPLEVALUE})
      copy<std::uint16_t>(from, to, tag);
    std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
    if (layout.photometric == PHOTOMETRIC_PALETTE &&
        TIFFGetField(from, TIFFTAG_COLORMAP, &red, &green, &blue))
      TIFFSetField(to, TIFFTAG_COLORMAP, red, green, blue);
  } else {
    describe_samples(to, layout);
  }
  for (const std::uint32_t tag :
       {TIFFTAG_ORIENTATION, TIFFTAG_RESOLUTIONUNIT, TIFFTAG_THRESHHOLDING})
    copy<std::uint16_t>(from, to, tag);
  copy<std::uint32_t>(from, to, TIFFTAG_SUBFILETYPE);
  for (const std::uint32_t tag :
       {TIFFTAG_XRESOLUTION, TIFFTAG_YRESOLUTION, TIFFTAG_XPOSITION, TIFFTAG_YPOSITION})
    copy_real(from, to, tag);
  std::uint16_t number = 0, count = 0;
  if (TIFFGetField(from, TIFFTAG_PAGENUMBER, &number, &count))
    TIFFSetField(to, TIFFTAG_PAGENUMBER, number, count);
}

/// Copies the sample tags for which libtiff has fixed fields. These tags are valid only if the
/// samples keep their type. The caller must first set the extra samples of `to`, because libtiff
/// derives the number of transfer functions from them.
void copy_sample_tags(TIFF* from, TIFF* to) {
  for (const std::uint32_t tag : {TIFFTAG_SMINSAMPLEVALUE, TIFFTAG_SMAXSAMPLEVALUE})
    copy<double>(from, to, tag);
  std::uint16_t light = 0, dark = 0;
  if (TIFFGetField(from, TIFFTAG_HALFTONEHINTS, &light, &dark))
    TIFFSetField(to, TIFFTAG_HALFTONEHINTS, light, dark);
  copy<float*>(from, to, TIFFTAG_REFERENCEBLACKWHITE);
  std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  if (TIFFGetField(from, TIFFTAG_TRANSFERFUNCTION, &red, &green, &blue))
    TIFFSetField(to, TIFFTAG_TRANSFERFUNCTION, red, green, blue);
}

/// Copies a tag whose value is a single number.
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

/// Returns the number of sub-images of a page.
int sub_images_of(TIFF* page) {
  std::uint16_t count = 0;
  const std::uint64_t* offsets = nullptr;
  return TIFFGetField(page, TIFFTAG_SUBIFD, &count, &offsets) ? count : 0;
}

}  // namespace

/// Copies a tag that libtiff does not store in a fixed field: a text, a profile, or an unknown tag.
bool TiffWriter::copy_further_tag(TIFF* from, std::uint32_t tag) {
  TIFF* to = tiff_.get();
  const TIFFField* field = TIFFFieldWithTag(from, tag);
  if (!field || std::ranges::find(offset_tags, tag) != offset_tags.end() ||
      std::ranges::find(private_tags, tag) != private_tags.end())
    return false;
  const TIFFDataType type = TIFFFieldDataType(field);
  if (type == TIFF_IFD || type == TIFF_IFD8) return false;
  if (!TIFFFindField(to, tag, TIFF_ANY)) {
    tag_names_.push_back(TIFFFieldName(field));
    const TIFFFieldInfo info{tag,  TIFF_VARIABLE2, TIFF_VARIABLE2,          type, FIELD_CUSTOM,
                             true, true,           tag_names_.back().data()};
    if (TIFFMergeFieldInfo(to, &info, 1) != 0) return false;
  }
  const TIFFField* own = TIFFFieldWithTag(to, tag);
  // The arguments of TIFFGetField() and TIFFSetField() contain the number of values only for some
  // tags. If only one of the two functions expects this number, the function skips the tag.
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

/// Copies a directory, and sets a tag of the output to the offset of the copy.
bool TiffWriter::copy_directory(const TiffReader& reader, const TiffLayout& layout,
                                std::uint32_t tag) {
  TIFF* const to = tiff_.get();
  std::uint64_t at = 0;
  const bool is_copied = std::ranges::find(copied_directories, tag) != copied_directories.end();
  if (!is_copied || format_.is_big_endian != reader.big_endian() ||
      format_.is_big_tiff != reader.big_tiff() || !TIFFGetField(reader.handle(), tag, &at))
    return false;
  const std::optional<std::uint64_t> copy = copy_sub_directory(
      reader.path(), at, format_,
      {static_cast<std::uint32_t>(layout.width), static_cast<std::uint32_t>(layout.height)},
      descriptor());
  return copy && TIFFSetField(to, tag, *copy);
}

TiffChanges TiffWriter::copy_tags(const TiffReader& reader, const TiffLayout& from_layout,
                                  const TiffLayout& layout) {
  TIFF *const from = reader.handle(), *const to = tiff_.get();
  TiffChanges changes;
  TiffLayout same_size = from_layout;
  same_size.width = layout.width;
  same_size.height = layout.height;
  copy_codec(from, to, from_layout, layout, changes);
  set_size(to, layout);
  copy_known_tags(from, to, same_size == layout, layout);
  describe_extra(from, to, layout);
  if (same_size == layout) copy_sample_tags(from, to);
  copy_strip_layout(from, to, layout);
  for (int i = 0; i < TIFFGetTagListCount(from); ++i) {
    const std::uint32_t tag = TIFFGetTagListEntry(from, i);
    if (tag == TIFFTAG_IMAGESOURCEDATA) {
      changes.losses.emplace_back(lost_layers);
      continue;
    }
    // The YCbCr coefficients are invalid after libtiff's conversion to RGB.
    if (tag == TIFFTAG_YCBCRCOEFFICIENTS || copy_further_tag(from, tag) ||
        copy_directory(reader, layout, tag))
      continue;
    const TIFFField* field = TIFFFieldWithTag(from, tag);
    changes.losses.push_back("the TIFF tag " +
                             (field ? std::string(TIFFFieldName(field)) : std::to_string(tag)));
  }
  if (sub_images_of(from) > 0) changes.losses.emplace_back(lost_sub_images);
  repeated_texts_.push_back(read_repeated_texts(from, reader.path()));
  message_.clear();  // A tag that could not be set is not a write error.
  return changes;
}

void TiffWriter::announce_levels(int count) {
  const std::vector<std::uint64_t> offsets(static_cast<std::size_t>(count));  // libtiff sets them
  if (count > 0) TIFFSetField(tiff_.get(), TIFFTAG_SUBIFD, count, offsets.data());
}

void TiffWriter::copy_level_tags(const TiffReader& reader, const TiffLayout& layout) {
  (void)copy_tags(reader, layout, layout);
  repeated_texts_.pop_back();  // append_texts() counts only pages
}

void TiffWriter::set_tags(const TiffLayout& layout) {
  constexpr std::size_t strip_bytes = 1 << 18;  // small enough to be read piece by piece
  TIFF* const to = tiff_.get();
  set_size(to, layout);
  describe_samples(to, layout);
  describe_extra(nullptr, to, layout);
  set_codec(to, default_codec(), predictor_of(layout));
  const auto rows = static_cast<int>(strip_bytes / layout.row_bytes(layout.width));
  TIFFSetField(to, TIFFTAG_ROWSPERSTRIP,
               static_cast<std::uint32_t>(std::clamp(rows, 1, layout.height)));
}

void TiffWriter::set_tiled_tags(const TiffLayout& layout, bool is_level) {
  const auto side_for = [](int size) {
    constexpr int max_side = 256, step = 16;  // TIFF allows only multiples of 16
    const int side = (size + step - 1) / step * step;
    return static_cast<std::uint32_t>(side < max_side ? side : max_side);
  };
  TIFF* const to = tiff_.get();
  set_size(to, layout);
  describe_samples(to, layout);
  describe_extra(nullptr, to, layout);
  set_codec(to, default_codec(), predictor_of(layout));
  TIFFSetField(to, TIFFTAG_TILEWIDTH, side_for(layout.width));
  TIFFSetField(to, TIFFTAG_TILELENGTH, side_for(layout.height));
  if (is_level) TIFFSetField(to, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
}

}  // namespace lull::io
