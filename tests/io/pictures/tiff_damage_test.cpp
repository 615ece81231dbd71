// Tests TIFF files whose strips have fewer samples than their tags state, with three readers:
// stills of integers, stills of floats, and stacks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "io/support/clip.h"
#include "io/support/tiff_pages.h"

namespace lull::io::test {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

/// Returns the text of the BadData that reading a file throws; empty if all frames are read.
std::string error_for(const std::string& path, bool tolerate_damage = false) {
  try {
    const auto source = open_source(path, {.tolerate_damage = tolerate_damage});
    while (source->read()) continue;
    return {};
  } catch (const BadData& error) {
    return error.what();
  }
}

struct StripPlace {
  std::size_t offset = 0, bytes = 0;
};

StripPlace place_of_strip(const std::string& path, std::uint32_t strip) {
  const TiffPtr file(TIFFOpen(path.c_str(), "r"));
  return {TIFFGetStrileOffset(file.get(), strip), TIFFGetStrileByteCount(file.get(), strip)};
}

void silence_libtiff() {
  TIFFSetErrorHandler(nullptr);
  TIFFSetWarningHandler(nullptr);
}

struct Kind {
  std::string name;
  StackSpec spec;
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

class DeflatedTiff : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    silence_libtiff();
    make_stack(path, GetParam().spec);
    intact = read_file(path);
    strip = place_of_strip(path, 1);
    ASSERT_EQ(error_for(path), "");
  }
  const TemporaryFolder folder;
  const std::string path = folder / "in.tif";
  Bytes intact;
  StripPlace strip;
};

TEST_P(DeflatedTiff, RejectsAFlippedBitOfAStrip) {
  for (std::size_t i = 2; i < strip.bytes; i += strip.bytes / 24 + 1) {
    Bytes bad = intact;
    bad[strip.offset + i] ^= 4;
    write_file(path, bad);
    EXPECT_THAT(error_for(path), HasSubstr("damaged or cut short"))
        << "byte " << i << " of " << strip.bytes;
  }
}

// The checksum follows all bytes that libtiff needs.
TEST_P(DeflatedTiff, RejectsAWrongChecksum) {
  Bytes bad = intact;
  bad[strip.offset + strip.bytes - 1] ^= 1;
  write_file(path, bad);
  EXPECT_THAT(error_for(path), HasSubstr("incorrect data check"));
}

TEST_P(DeflatedTiff, GivesNoPictureForAStripThatInflatesToTooLittle) {
  const Bytes few(16, 'A');
  uLongf size = static_cast<uLongf>(strip.bytes);
  Bytes bad = intact;
  ASSERT_EQ(compress2(bad.data() + strip.offset, &size, few.data(), few.size(), 9), Z_OK);
  write_file(path, bad);
  EXPECT_THAT(error_for(path), HasSubstr("inflates to 16 bytes instead of "));
  EXPECT_NE(error_for(path, /*tolerate_damage=*/true), "");
}

TEST_P(DeflatedTiff, RejectsAStripOfNoBytes) {
  // libtiff stores the byte counts of the three strips in 16 or 32 bits.
  for (const std::size_t width : {2U, 4U}) {
    Bytes counts;
    for (std::uint32_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < width; ++k)
        counts.push_back(static_cast<std::uint8_t>(place_of_strip(path, i).bytes >> 8 * k));
    const auto found = std::search(intact.begin(), intact.end(), counts.begin(), counts.end());
    if (found == intact.end()) continue;
    Bytes bad = intact;
    const auto second = bad.begin() + (found - intact.begin()) + static_cast<std::ptrdiff_t>(width);
    std::fill_n(second, width, std::uint8_t{0});
    write_file(path, bad);
    EXPECT_NE(error_for(path), "");
    return;
  }
  ADD_FAILURE() << "the byte counts were not found";
}

INSTANTIATE_TEST_SUITE_P(
    Readers, DeflatedTiff,
    testing::Values(Kind{"Still", {.pages = 1, .bits = 16, .codec = COMPRESSION_ADOBE_DEFLATE}},
                    Kind{"HalfFloats",
                         {.pages = 1,
                          .bits = 16,
                          .form = SAMPLEFORMAT_IEEEFP,
                          .codec = COMPRESSION_ADOBE_DEFLATE}},
                    Kind{"Stack", {.bits = 16, .codec = COMPRESSION_ADOBE_DEFLATE}},
                    Kind{"StackOfBytes", {.bits = 8, .codec = COMPRESSION_ADOBE_DEFLATE}},
                    Kind{"StackOfFloats",
                         {.pages = 2,
                          .bits = 32,
                          .form = SAMPLEFORMAT_IEEEFP,
                          .codec = COMPRESSION_ADOBE_DEFLATE}}),
    [](const auto& info) { return info.param.name; });

class TiffCodec : public testing::TestWithParam<int> {};

TEST_P(TiffCodec, RejectsAStripWhoseSecondHalfIsOverwritten) {
  silence_libtiff();
  if (!TIFFIsCODECConfigured(static_cast<std::uint16_t>(GetParam())))
    GTEST_SKIP() << "this libtiff lacks the codec";
  const TemporaryFolder folder;
  const std::string path = folder / "in.tif";
  for (const int pages : {1, 2}) {
    make_stack(path, {.pages = pages, .bits = 16, .codec = GetParam()});
    EXPECT_EQ(error_for(path), "");
    const StripPlace strip = place_of_strip(path, 2);
    Bytes bad = read_file(path);
    const std::size_t half = strip.bytes / 2;
    std::fill_n(bad.begin() + static_cast<std::ptrdiff_t>(strip.offset + half), strip.bytes - half,
                std::uint8_t{0x80});
    write_file(path, bad);
    EXPECT_NE(error_for(path), "") << pages << " pages";
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, TiffCodec,
                         testing::Values(COMPRESSION_LZW, COMPRESSION_PACKBITS, COMPRESSION_LZMA,
                                         COMPRESSION_ADOBE_DEFLATE));

// The tags state gigabytes of samples in a file of some hundred bytes.
TEST(TiffSize, IsComparedWithTheFileBeforeAllocating) {
  silence_libtiff();
  const TemporaryFolder folder;
  const std::string path = folder / "in.tif";
  for (const int form : {SAMPLEFORMAT_UINT, SAMPLEFORMAT_IEEEFP}) {
    {
      const TiffPtr file(TIFFOpen(path.c_str(), "w"));
      describe_page(file.get(),
                    {.width = 16000,
                     .height = 16000,
                     .pages = 1,
                     .bits = 16,
                     .form = form,
                     .codec = COMPRESSION_ADOBE_DEFLATE,
                     .rows_per_strip = 16000},
                    0);
      TIFFSetField(file.get(), TIFFTAG_IMAGEDESCRIPTION, "one page");
      Bytes few(100);
      TIFFWriteRawStrip(file.get(), 0, few.data(), static_cast<tmsize_t>(few.size()));
    }
    EXPECT_THAT(error_for(path), HasSubstr("can hold")) << form;
  }
}

}  // namespace
}  // namespace lull::io::test
