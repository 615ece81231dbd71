// Tests EXIF data of TIFF files in TIFF outputs, for every page, byte order and size of offsets,
// and the tags of BigTIFF files in other outputs. libtiff writes and reads the TIFF files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exiv2/exiv2.hpp>

#include "io/metadata/photos.h"
#include "io/support/tiff_pages.h"

namespace lull::io::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int pages = 3, side = 16;

std::string time_of(int page) { return "2024:05:01 10:00:0" + std::to_string(page); }

/// Returns a maker note that is longer than an entry of a directory.
std::vector<std::uint8_t> maker_note(int page) {
  return std::vector<std::uint8_t>(301, static_cast<std::uint8_t>(40 + page));
}

void set_page(TIFF* file) {
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, side);
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, side);
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 3);
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
  TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
}

void write_page(TIFF* file) {
  set_page(file);
  TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, side);
  std::vector<std::uint8_t> samples(3 * side * side, 90);
  TIFFWriteEncodedStrip(file, 0, samples.data(), static_cast<tmsize_t>(samples.size()));
}

void add_exif(TIFF* file, int page) {
  const auto number = static_cast<tdir_t>(page);
  TIFFSetDirectory(file, number);
  TIFFFreeDirectory(file);  // libtiff would otherwise leak the arrays of the page
  TIFFCreateEXIFDirectory(file);
  TIFFSetField(file, EXIFTAG_DATETIMEORIGINAL, time_of(page).c_str());
  TIFFSetField(file, EXIFTAG_EXPOSURETIME, 0.008);
  const std::vector<std::uint8_t> note = maker_note(page);
  TIFFSetField(file, EXIFTAG_MAKERNOTE, static_cast<int>(note.size()), note.data());
  TIFFSetField(file, EXIFTAG_PIXELXDIMENSION, 7);
  std::uint64_t at = 0;
  TIFFWriteCustomDirectory(file, &at);
  TIFFSetDirectory(file, number);
  TIFFSetField(file, TIFFTAG_EXIFIFD, at);
  TIFFRewriteDirectory(file);
}

void make_pages_with_exif(const std::string& path, const std::string& mode) {
  const TiffPtr file(TIFFOpen(path.c_str(), mode.c_str()));
  for (int page = 0; page < pages; ++page) {
    write_page(file.get());
    TIFFWriteDirectory(file.get());
  }
  TIFFFlush(file.get());
  for (int page = 0; page < pages; ++page) add_exif(file.get(), page);
}

void expect_exif(TIFF* file, int page) {
  std::uint64_t at = 0;
  ASSERT_TRUE(TIFFSetDirectory(file, static_cast<tdir_t>(page)));
  ASSERT_TRUE(TIFFGetField(file, TIFFTAG_EXIFIFD, &at));
  ASSERT_TRUE(TIFFReadEXIFDirectory(file, at));
  const char* time = nullptr;
  ASSERT_TRUE(TIFFGetField(file, EXIFTAG_DATETIMEORIGINAL, &time));
  EXPECT_EQ(time, time_of(page));
  std::uint32_t count = 0, width = 0;
  const std::uint8_t* note = nullptr;
  std::uint16_t narrow = 0;
  const TIFFField* field = TIFFFieldWithTag(file, EXIFTAG_MAKERNOTE);
  ASSERT_TRUE(TIFFFieldReadCount(field) == TIFF_VARIABLE2
                  ? TIFFGetField(file, EXIFTAG_MAKERNOTE, &count, &note)
                  : TIFFGetField(file, EXIFTAG_MAKERNOTE, &narrow, &note));
  count += narrow;
  EXPECT_EQ(std::vector<std::uint8_t>(note, note + count), maker_note(page));
  ASSERT_TRUE(TIFFGetField(file, EXIFTAG_PIXELXDIMENSION, &width));
  EXPECT_EQ(width, side) << "the size is that of the output";
}

TEST(TiffExif, IsCopiedWithEveryPage) {
  const TemporaryFolder folder;
  for (const std::string mode : {"wl", "wb", "wl8", "wb8"}) {
    SCOPED_TRACE(mode);
    make_pages_with_exif(folder / "in.tif", mode);
    EXPECT_THAT(copy_photo(folder / "in.tif", folder / "out.tif").losses, IsEmpty());
    const TiffPtr out(TIFFOpen((folder / "out.tif").c_str(), "r"));
    ASSERT_TRUE(out);
    ASSERT_EQ(TIFFNumberOfDirectories(out.get()), pages);
    for (int page = 0; page < pages; ++page) expect_exif(out.get(), page);
  }
}

TEST(TiffExif, IsReportedAsLostIfDamaged) {
  const TemporaryFolder folder;
  {
    const TiffPtr file(TIFFOpen((folder / "in.tif").c_str(), "w"));
    write_page(file.get());
    TIFFSetField(file.get(), TIFFTAG_EXIFIFD, std::uint64_t{1} << 24);
  }
  EXPECT_THAT(copy_photo(folder / "in.tif", folder / "out.tif").losses,
              Contains(HasSubstr("EXIFIFD")));
  const TiffPtr out(TIFFOpen((folder / "out.tif").c_str(), "r"));
  ASSERT_TRUE(out);
  std::uint64_t at = 0;
  EXPECT_FALSE(TIFFGetField(out.get(), TIFFTAG_EXIFIFD, &at));
}

/// Adds an entry to a little-endian directory with offsets of 32 bits.
void add_entry(std::vector<std::uint8_t>& directory, int tag, int type, std::uint32_t count,
               std::uint32_t value) {
  for (const int field : {tag, type})
    for (const int shift : {0, 8}) directory.push_back(static_cast<std::uint8_t>(field >> shift));
  for (const std::uint32_t field : {count, value})
    for (const int shift : {0, 8, 16, 24})
      directory.push_back(static_cast<std::uint8_t>(field >> shift));
}

/// Makes a picture with the EXIF entries `entries`.
void make_picture_with_entries(const std::string& path, const std::vector<std::uint8_t>& entries) {
  constexpr std::size_t at = 4096;
  {
    const TiffPtr file(TIFFOpen(path.c_str(), "wl"));
    write_page(file.get());
    TIFFSetField(file.get(), TIFFTAG_EXIFIFD, std::uint64_t{at});
  }
  std::vector<std::uint8_t> bytes = read_file(path);
  ASSERT_LT(bytes.size(), at);
  bytes.resize(at);
  const std::size_t count = entries.size() / 12;
  for (const int shift : {0, 8}) bytes.push_back(static_cast<std::uint8_t>(count >> shift));
  bytes.insert(bytes.end(), entries.begin(), entries.end());
  bytes.insert(bytes.end(), 4, 0);
  write_file(path, bytes);
}

TEST(TiffExif, MayContainTheTypeUtf8) {
  const TemporaryFolder folder;
  std::vector<std::uint8_t> entries;
  add_entry(entries, 0xa430, 129, 4, 0x00a9c365);
  make_picture_with_entries(folder / "in.tif", entries);
  EXPECT_THAT(copy_photo(folder / "in.tif", folder / "out.tif").losses, IsEmpty());
  const std::vector<std::uint8_t> out = read_file(folder / "out.tif");
  EXPECT_FALSE(std::ranges::search(out, entries).empty()) << "the entry is not in the output";
}

TEST(TiffExif, IsLostIfItsValuesAreLargerThanTheFile) {
  const TemporaryFolder folder;
  std::vector<std::uint8_t> entries;
  for (int tag = 0; tag < 1000; ++tag) add_entry(entries, 50000 + tag, TIFF_UNDEFINED, 4000, 8);
  make_picture_with_entries(folder / "in.tif", entries);
  EXPECT_THAT(copy_photo(folder / "in.tif", folder / "out.tif").losses,
              Contains(HasSubstr("EXIFIFD")));
  EXPECT_LT(read_file(folder / "out.tif").size(), 40000u);
}

std::vector<std::string> exif_keys_of(const std::string& path) {
  const auto image = Exiv2::ImageFactory::open(path);
  image->readMetadata();
  std::vector<std::string> keys;
  for (const Exiv2::Exifdatum& datum : image->exifData()) keys.push_back(datum.key());
  return keys;
}

TEST(TiffTags, OfTilesAreNotCopiedToOtherFormats) {
  const TemporaryFolder folder;
  {
    const TiffPtr file(TIFFOpen((folder / "in.tif").c_str(), "w"));
    set_page(file.get());
    TIFFSetField(file.get(), TIFFTAG_MAKE, "Maker");
    TIFFSetField(file.get(), TIFFTAG_TILEWIDTH, side);
    TIFFSetField(file.get(), TIFFTAG_TILELENGTH, side);
    std::vector<std::uint8_t> samples(3 * side * side, 90);
    TIFFWriteEncodedTile(file.get(), 0, samples.data(), static_cast<tmsize_t>(samples.size()));
  }
  for (const std::string to : {"jpg", "webp"}) {
    EXPECT_THAT(copy_photo(folder / "in.tif", folder / ("out." + to)).losses, IsEmpty());
    const std::vector<std::string> keys = exif_keys_of(folder / ("out." + to));
    EXPECT_THAT(keys, Contains("Exif.Image.Make")) << to;
    EXPECT_THAT(keys, Each(Not(HasSubstr("Tile")))) << to;
  }
}

// A TIFF file without metadata has tags for the storage of its samples, which are no EXIF data.
TEST(TiffTags, OfStorageAreNeitherCopiedToOtherFormatsNorReportedAsLost) {
  const TemporaryFolder folder;
  {
    const TiffPtr file(TIFFOpen((folder / "in.tif").c_str(), "w"));
    TIFFSetField(file.get(), TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    const float black_white[] = {0, 255, 0, 255, 0, 255};
    TIFFSetField(file.get(), TIFFTAG_REFERENCEBLACKWHITE, black_white);
    write_page(file.get());
  }
  EXPECT_THAT(copy_photo(folder / "in.tif", folder / "out.ppm").losses, IsEmpty());
  for (const std::string to : {"jpg", "png"}) {
    EXPECT_THAT(copy_photo(folder / "in.tif", folder / ("out." + to)).losses, IsEmpty());
    EXPECT_THAT(exif_keys_of(folder / ("out." + to)), IsEmpty()) << to;
  }
}

TEST(TiffTags, OfASecondPageAreNoThumbnail) {
  const TemporaryFolder folder;
  {
    const TiffPtr file(TIFFOpen((folder / "in.tif").c_str(), "w"));
    for (int page = 0; page < 2; ++page) {
      write_page(file.get());
      TIFFWriteDirectory(file.get());
    }
  }
  const Copied copied = copy_photo(folder / "in.tif", folder / "out.%d.png");
  EXPECT_THAT(copied.losses, IsEmpty());
  EXPECT_THAT(copied.notes, Each(Not(HasSubstr("thumbnail"))));
}

// Exiv2 does not read BigTIFF.
TEST(TiffTags, OfBigTiffAreKeptInOtherFormats) {
  constexpr std::string_view xmp =
      "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF "
      "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description rdf:about='' "
      "xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title><rdf:Alt><rdf:li "
      "xml:lang='x-default'>Alpha</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF>"
      "</x:xmpmeta>";
  const TemporaryFolder folder;
  for (const std::string mode : {"wl8", "wb8"}) {
    {
      const TiffPtr file(TIFFOpen((folder / "in.tif").c_str(), mode.c_str()));
      // libtiff changes some tags only before it writes samples.
      TIFFSetField(file.get(), TIFFTAG_MAKE, "Maker");
      TIFFSetField(file.get(), TIFFTAG_ORIENTATION, ORIENTATION_RIGHTTOP);
      TIFFSetField(file.get(), TIFFTAG_XRESOLUTION, 300.0);
      TIFFSetField(file.get(), TIFFTAG_YRESOLUTION, 300.0);
      TIFFSetField(file.get(), TIFFTAG_XMLPACKET, static_cast<std::uint32_t>(xmp.size()),
                   xmp.data());
      write_page(file.get());
      TIFFWriteDirectory(file.get());
      TIFFFlush(file.get());
      add_exif(file.get(), 0);
    }
    for (const std::string to : {"jpg", "png"}) {
      SCOPED_TRACE(mode + " to " + to);
      const std::string out = folder / ("out." + to);
      EXPECT_THAT(copy_photo(folder / "in.tif", out).losses,
                  ElementsAre(HasSubstr("the EXIF metadata of TIFF")));
      const PhotoFacts facts = read_photo(out);
      EXPECT_EQ(facts.orientation, 6);
      EXPECT_EQ(facts.xmp_title, "Alpha");
      EXPECT_NEAR(facts.dots_per_inch, 300, 0.02);
      EXPECT_THAT(to == "png" ? facts.texts : facts.make, HasSubstr("Maker"));
    }
  }
}

}  // namespace
}  // namespace lull::io::test
