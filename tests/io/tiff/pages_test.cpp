// Tests the tags and pages of pictures in TIFF files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "io/support/clip.h"
#include "io/support/tiff_pictures.h"

namespace lull::io::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TiffPages : public TiffFiles {};

void set_tags(TIFF* file) {
  static const TIFFFieldInfo info[] = {
      {65001, -3, -3, TIFF_RATIONAL, FIELD_CUSTOM, 1, 1, const_cast<char*>("private")},
      {65002, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, const_cast<char*>("text")}};
  TIFFMergeFieldInfo(file, info, 2);
  const float numbers[] = {0.5f, 2.25f};
  TIFFSetField(file, 65001, 2, numbers);
  TIFFSetField(file, 65002, "a private text");
  const std::vector<std::uint8_t> profile(300, 7);
  TIFFSetField(file, TIFFTAG_ICCPROFILE, 300, profile.data());
  TIFFSetField(file, TIFFTAG_IMAGEDESCRIPTION, "shot 12");
  TIFFSetField(file, TIFFTAG_ARTIST, "somebody");
  TIFFSetField(file, TIFFTAG_DATETIME, "2024:01:02 03:04:05");
  TIFFSetField(file, TIFFTAG_ORIENTATION, ORIENTATION_RIGHTTOP);
  TIFFSetField(file, TIFFTAG_XRESOLUTION, 300.0);
  TIFFSetField(file, TIFFTAG_YRESOLUTION, 300.0);
  TIFFSetField(file, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
}

void expect_tags(TIFF* file) {
  std::uint32_t count = 0;
  const void* data = nullptr;
  ASSERT_TRUE(TIFFGetField(file, 65001, &count, &data));
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(static_cast<const float*>(data)[1], 2.25f);
  const char* text = nullptr;
  ASSERT_TRUE(TIFFGetField(file, 65002, &count, &text));
  EXPECT_STREQ(text, "a private text");
  ASSERT_TRUE(TIFFGetField(file, TIFFTAG_ICCPROFILE, &count, &data));
  EXPECT_EQ(count, 300u);
  EXPECT_STREQ(tag_of<const char*>(file, TIFFTAG_IMAGEDESCRIPTION), "shot 12");
  EXPECT_STREQ(tag_of<const char*>(file, TIFFTAG_ARTIST), "somebody");
  EXPECT_STREQ(tag_of<const char*>(file, TIFFTAG_DATETIME), "2024:01:02 03:04:05");
  EXPECT_EQ(tag_of<std::uint16_t>(file, TIFFTAG_ORIENTATION), ORIENTATION_RIGHTTOP);
  EXPECT_EQ(tag_of<float>(file, TIFFTAG_XRESOLUTION), 300);
}

TEST_F(TiffPages, TagsAreKeptInStillsAndSequences) {
  for (const char* name : {"in.tif", "s.1.tif", "s.2.tif"}) {
    const TiffFile file(TIFFOpen((folder / name).c_str(), "w"));
    set_tags(file.get());
    write_picture(file.get(), {.name = "", .bits = 16, .codec = COMPRESSION_LZW});
  }
  transcode(in, out, {.strict_metadata = true});
  transcode(folder / "s.%d.tif", folder / "t.%d.tif", {.strict_metadata = true});
  for (const char* name : {"out.tif", "t.1.tif", "t.2.tif"}) {
    SCOPED_TRACE(name);
    const TiffFile file(TIFFOpen((folder / name).c_str(), "r"));
    ASSERT_TRUE(file);
    expect_tags(file.get());
  }
}

// libtiff does not list these tags with the other tags of a page.
TEST_F(TiffPages, TagsInFixedFieldsOfLibtiffAreKept) {
  std::vector<std::uint16_t> curves[3];
  for (int i = 0; i < 3; ++i)
    for (int v = 0; v < 256; ++v) curves[i].push_back(static_cast<std::uint16_t>(v * (250 + i)));
  float range[] = {16, 235, 17, 236, 18, 237};
  {
    const TiffFile file(TIFFOpen(in.c_str(), "w"));
    write_picture(file.get(), {.name = "", .samples = 4, .extra = 1});
    TIFFSetField(file.get(), TIFFTAG_TRANSFERFUNCTION, curves[0].data(), curves[1].data(),
                 curves[2].data());
    TIFFSetField(file.get(), TIFFTAG_REFERENCEBLACKWHITE, range);
    TIFFSetField(file.get(), TIFFTAG_HALFTONEHINTS, 7, 240);
    TIFFSetField(file.get(), TIFFTAG_SMINSAMPLEVALUE, 3.0);
    TIFFSetField(file.get(), TIFFTAG_SMAXSAMPLEVALUE, 251.0);
  }
  transcode(in, out, {.strict_metadata = true});
  const TiffFile file(TIFFOpen(out.c_str(), "r"));
  std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  ASSERT_TRUE(TIFFGetField(file.get(), TIFFTAG_TRANSFERFUNCTION, &red, &green, &blue));
  EXPECT_TRUE(std::ranges::equal(curves[0], std::span(red, 256)));
  EXPECT_TRUE(std::ranges::equal(curves[2], std::span(blue, 256)));
  const float* stated = nullptr;
  ASSERT_TRUE(TIFFGetField(file.get(), TIFFTAG_REFERENCEBLACKWHITE, &stated));
  EXPECT_TRUE(std::ranges::equal(range, std::span(stated, 6)));
  std::uint16_t light = 0, dark = 0;
  ASSERT_TRUE(TIFFGetField(file.get(), TIFFTAG_HALFTONEHINTS, &light, &dark));
  EXPECT_EQ(light, 7);
  EXPECT_EQ(dark, 240);
  EXPECT_EQ(tag_of<double>(file.get(), TIFFTAG_SMINSAMPLEVALUE), 3);
  EXPECT_EQ(tag_of<double>(file.get(), TIFFTAG_SMAXSAMPLEVALUE), 251);
}

// Photoshop shows the layers of a file instead of its samples.
TEST_F(TiffPages, LayersOfPhotoshopAreOmitted) {
  {
    const TiffFile file(TIFFOpen(in.c_str(), "w"));
    set_tags(file.get());
    const std::vector<std::uint8_t> layers(60, 5);
    TIFFSetField(file.get(), TIFFTAG_IMAGESOURCEDATA, 60, layers.data());
    write_picture(file.get(), {.name = ""});
  }
  const auto source = open_source(in);
  const auto sink = open_sink(out, *source, {});
  EXPECT_THAT(sink->losses(), ElementsAre(HasSubstr("layers of Photoshop")));
  sink->write(*source->read());
  sink->finish();
  const TiffFile file(TIFFOpen(out.c_str(), "r"));
  expect_tags(file.get());
  std::uint32_t count = 0;
  const void* data = nullptr;
  EXPECT_FALSE(TIFFGetField(file.get(), TIFFTAG_IMAGESOURCEDATA, &count, &data));
}

TEST_F(TiffPages, PrivateTagsWithFileOffsetsAreOmitted) {
  {
    const TiffFile file(TIFFOpen(in.c_str(), "w"));
    static const TIFFFieldInfo info{33628,        -3, -3, TIFF_LONG,
                                    FIELD_CUSTOM, 1,  1,  const_cast<char*>("UIC1")};
    TIFFMergeFieldInfo(file.get(), &info, 1);
    const std::uint32_t offset = 1234;
    TIFFSetField(file.get(), 33628, 1, &offset);
    write_picture(file.get(), {.name = ""});
  }
  const auto source = open_source(in);
  EXPECT_THAT(open_sink(out, *source, {})->losses(), ElementsAre(HasSubstr("33628")));
}

TEST_F(TiffPages, ColourProfileReachesOtherFormats) {
  {
    const TiffFile file(TIFFOpen(in.c_str(), "w"));
    set_tags(file.get());
    write_picture(file.get(), {.name = ""});
  }
  transcode(in, folder / "a.png");
  transcode(folder / "a.png", out);
  const TiffFile file(TIFFOpen(out.c_str(), "r"));
  std::uint32_t count = 0;
  const void* data = nullptr;
  ASSERT_TRUE(TIFFGetField(file.get(), TIFFTAG_ICCPROFILE, &count, &data));
  EXPECT_EQ(count, 300u);
  EXPECT_EQ(tag_of<std::uint16_t>(file.get(), TIFFTAG_COMPRESSION), COMPRESSION_ADOBE_DEFLATE);
}

/// Returns all values of ImageDescription in the first page of a little-endian file with offsets of
/// 32 bits.
std::vector<std::string> descriptions_of(const std::vector<std::uint8_t>& bytes) {
  const auto number = [&](std::size_t at, int count) {
    std::size_t value = 0;
    for (int i = count; i-- > 0;) value = value << 8 | bytes.at(at + i);
    return value;
  };
  std::vector<std::string> texts;
  const std::size_t directory = number(4, 4);
  for (std::size_t i = 0, at = directory + 2; i < number(directory, 2); ++i, at += 12) {
    if (number(at, 2) != TIFFTAG_IMAGEDESCRIPTION) continue;
    const std::size_t length = number(at + 4, 4);
    const std::size_t begin = length <= 4 ? at + 8 : number(at + 8, 4);
    texts.emplace_back(reinterpret_cast<const char*>(&bytes.at(begin)));
  }
  return texts;
}

// tifffile writes two descriptions by default.
TEST_F(TiffPages, RepeatedDescriptionIsKept) {
  make_picture(in, {.name = "", .samples = 1, .photometric = PHOTOMETRIC_MINISBLACK});
  std::vector<std::uint8_t> bytes = read_file(in);
  const auto word = [&](std::size_t at) { return std::size_t{bytes[at]} | bytes[at + 1] << 8; };
  const std::size_t directory = word(4) | word(6) << 16, count = word(directory);
  std::vector<std::uint8_t> copy(bytes.begin() + static_cast<long>(directory) + 2,
                                 bytes.begin() + static_cast<long>(directory + 2 + 12 * count));
  std::size_t place = 0;  // entries are sorted by tag
  while (place < copy.size() && (copy[place] | copy[place + 1] << 8) < TIFFTAG_IMAGEDESCRIPTION)
    place += 12;
  const std::uint8_t first[] = {14, 1, 2, 0, 3, 0, 0, 0, 'a', 'b', 0, 0};
  const std::uint8_t second[] = {14, 1, 2, 0, 3, 0, 0, 0, 'c', 'd', 0, 0};
  copy.insert(copy.begin() + static_cast<long>(place), second, second + 12);
  copy.insert(copy.begin() + static_cast<long>(place), first, first + 12);
  if (bytes.size() % 2) bytes.push_back(0);
  const std::size_t at = bytes.size();
  for (int i = 0; i < 4; ++i) bytes[4 + i] = static_cast<std::uint8_t>(at >> (8 * i));
  bytes.push_back(static_cast<std::uint8_t>(count + 2));
  bytes.push_back(0);
  bytes.insert(bytes.end(), copy.begin(), copy.end());
  bytes.insert(bytes.end(), 4, 0);
  write_file(in, bytes);
  transcode(in, out, {.strict_metadata = true});
  const TiffFile file(TIFFOpen(out.c_str(), "r"));
  EXPECT_STREQ(tag_of<const char*>(file.get(), TIFFTAG_IMAGEDESCRIPTION), "ab");
  EXPECT_THAT(descriptions_of(read_file(out)), ElementsAre("ab", "cd"));
}

TEST_F(TiffPages, PagesOfColourBecomePages) {
  {
    const TiffFile file(TIFFOpen(in.c_str(), "w"));
    for (int page = 0; page < 3; ++page) {
      set_tags(file.get());
      TIFFSetField(file.get(), TIFFTAG_PAGENUMBER, page, 3);
      write_picture(file.get(), {.name = "", .bits = 16});
      TIFFWriteDirectory(file.get());
      TIFFSetField(file.get(), TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
      write_picture(file.get(), {.name = "", .width = 10, .height = 8});
      TIFFWriteDirectory(file.get());
    }
  }
  EXPECT_EQ(transcode(in, out, {.strict_metadata = true}), 3);
  const TiffFile file(TIFFOpen(out.c_str(), "r")), before(TIFFOpen(in.c_str(), "r"));
  ASSERT_EQ(TIFFNumberOfDirectories(file.get()), 3u);
  for (int page = 0; page < 3; ++page) {
    TIFFSetDirectory(file.get(), page);
    TIFFSetDirectory(before.get(), 2 * page);
    expect_tags(file.get());
    std::uint16_t number = 0, count = 0;
    ASSERT_TRUE(TIFFGetField(file.get(), TIFFTAG_PAGENUMBER, &number, &count));
    EXPECT_EQ(number, page);
    EXPECT_TRUE(chunks_of(file.get()) == chunks_of(before.get()));
  }
  EXPECT_EQ(transcode(in, folder / "p.%02d.tif"), 3);
  const TiffFile last(TIFFOpen((folder / "p.02.tif").c_str(), "r"));
  ASSERT_TRUE(last);
  std::uint16_t number = 0, count = 0;
  ASSERT_TRUE(TIFFGetField(last.get(), TIFFTAG_PAGENUMBER, &number, &count));
  EXPECT_EQ(number, 2);
}

TEST_F(TiffPages, ColourStacksOfImagejAreFrames) {
  {
    const TiffFile file(TIFFOpen(in.c_str(), "w"));
    for (int page = 0; page < 3; ++page) {
      if (page == 0)
        TIFFSetField(file.get(), TIFFTAG_IMAGEDESCRIPTION,
                     "ImageJ=1.53t\nimages=3\nslices=3\nloop=false\n");
      write_picture(file.get(), {.name = "", .seed = page});
      TIFFWriteDirectory(file.get());
    }
  }
  EXPECT_FALSE(open_source(in)->info().stack);
  EXPECT_EQ(transcode(in, out, {.strict_metadata = true}), 3);
  const TiffFile file(TIFFOpen(out.c_str(), "r")), before(TIFFOpen(in.c_str(), "r"));
  ASSERT_EQ(TIFFNumberOfDirectories(file.get()), 3u);
  EXPECT_THAT(tag_of<const char*>(file.get(), TIFFTAG_IMAGEDESCRIPTION), HasSubstr("images=3"));
  for (int page = 0; page < 3; ++page) {
    TIFFSetDirectory(file.get(), page);
    TIFFSetDirectory(before.get(), page);
    EXPECT_TRUE(chunks_of(file.get()) == chunks_of(before.get()));
  }
}

TEST_F(TiffPages, ThumbnailDoesNotMakeAStack) {
  {
    const TiffFile file(TIFFOpen(in.c_str(), "w"));
    write_picture(file.get(), {.name = "", .samples = 1, .photometric = PHOTOMETRIC_MINISBLACK});
    TIFFWriteDirectory(file.get());
    TIFFSetField(file.get(), TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
    write_picture(
        file.get(),
        {.name = "", .samples = 1, .photometric = PHOTOMETRIC_MINISBLACK, .width = 9, .height = 7});
    TIFFWriteDirectory(file.get());
  }
  EXPECT_TRUE(open_source(in)->info().still);
  EXPECT_FALSE(open_source(in)->info().stack);
  EXPECT_EQ(transcode(in, out), 1);
}

}  // namespace
}  // namespace lull::io::test
