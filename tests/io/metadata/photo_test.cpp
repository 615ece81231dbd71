// Tests single photos and sequences of photos: the metadata of the outputs, and the warnings.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

extern "C" {
#include <libavutil/display.h>
}

#include <array>
#include <filesystem>

#include "core/error.h"
#include "core/frame_pool.h"
#include "io/metadata/photos.h"
#include "io/metadata/prepare.h"
#include "io/probe.h"
#include "io/support/side_data.h"

namespace lull::io::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Photo : public testing::Test {
 protected:
  TemporaryFolder folder;

  std::string photo(const std::string& name, const std::string& extension,
                    const PhotoFacts& facts) {
    const std::string path = folder / (name + "." + extension);
    make_picture(path, extension);
    add_metadata(path, facts);
    return path;
  }
};

TEST_F(Photo, KeepsTheOrientationAsTag) {
  for (const std::string from : {"jpg", "png", "tif", "webp"}) {
    const std::string in = photo("in", from, {.orientation = 6});
    for (const std::string to : {"jpg", "png", "tif", "webp"}) {
      const Copied copied = copy_photo(in, folder / ("out." + to));
      EXPECT_THAT(copied.losses, testing::Each(HasSubstr("alpha")));  // WebP to JPEG
      EXPECT_EQ(read_photo(folder / ("out." + to)).orientation, 6) << from << " to " << to;
      EXPECT_EQ(decode(folder / ("out." + to)).width, 64);
    }
  }
}

TEST_F(Photo, RotatesSamplesForFormatsWithoutOrientation) {
  for (const std::string from : {"jpg", "png", "tif", "webp"}) {
    copy_photo(photo("upright", from, {}), folder / "upright.ppm");
    const Decoded upright = decode(folder / "upright.ppm");
    copy_photo(photo("in", from, {.orientation = 6}), folder / "out.ppm");
    const Decoded out = decode(folder / "out.ppm");
    ASSERT_EQ(out.width, 48);
    ASSERT_EQ(out.height, 64);
    const auto pixel = [](const Decoded& picture, int x, int y) {
      const auto* p =
          &picture.pictures[0].bytes[static_cast<std::size_t>(3 * (y * picture.width + x))];
      return std::array{p[0], p[1], p[2]};
    };
    // With orientation 6, the left column is displayed as the top row, and the bottom row as the
    // left column.
    for (const auto [x, y] : {std::pair(0, 0), {63, 0}, {0, 47}, {63, 47}, {17, 31}})
      EXPECT_EQ(pixel(out, 47 - y, x), pixel(upright, x, y)) << from;
  }
}

TEST_F(Photo, KeepsTheRotationOfVideoAsTag) {
  ClipSpec spec;
  spec.encoder = "mpeg4";
  spec.frames = 2;
  spec.decorate = [](AVFormatContext& context) {
    std::array<std::int32_t, 9> matrix;
    av_display_rotation_set(matrix.data(), -90);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(matrix.data());
    add_stream_data(*context.streams[0], AV_PKT_DATA_DISPLAYMATRIX, {bytes, sizeof matrix});
  };
  make_clip(folder / "in.mp4", spec);
  EXPECT_THAT(copy_photo(folder / "in.mp4", folder / "o%d.png").losses, IsEmpty());
  EXPECT_EQ(read_photo(folder / "o0.png").orientation, 8);
  EXPECT_EQ(read_photo(folder / "o1.png").orientation, 8);
  EXPECT_THAT(copy_photo(folder / "in.mp4", folder / "o%d.ppm").losses, IsEmpty());
  EXPECT_EQ(decode(folder / "o1.ppm").width, 48);
}

TEST_F(Photo, ReportsARotationByAnotherAngle) {
  ClipSpec spec;
  spec.encoder = "mpeg4";
  spec.decorate = [](AVFormatContext& context) {
    std::array<std::int32_t, 9> matrix;
    av_display_rotation_set(matrix.data(), 30);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(matrix.data());
    add_stream_data(*context.streams[0], AV_PKT_DATA_DISPLAYMATRIX, {bytes, sizeof matrix});
  };
  make_clip(folder / "in.mp4", spec);
  EXPECT_THAT(copy_photo(folder / "in.mp4", folder / "o%d.png").losses,
              ElementsAre(HasSubstr("the rotation")));
}

TEST_F(Photo, RemovesTheThumbnailWithANote) {
  for (const std::string to : {"jpg", "png", "tif", "webp"}) {
    const std::string in = photo("in", "jpg", {.make = "Maker", .has_thumbnail = true});
    const Copied copied = copy_photo(in, folder / ("out." + to));
    EXPECT_THAT(copied.losses, IsEmpty());
    EXPECT_THAT(copied.notes, Contains(HasSubstr("thumbnail is removed")));
    const PhotoFacts out = read_photo(folder / ("out." + to));
    EXPECT_FALSE(out.has_thumbnail);
    EXPECT_EQ(out.make, "Maker");
  }
}

TEST_F(Photo, StatesTheSizeOfTheOutput) {
  const std::string in = photo("in", "jpg", {.orientation = 6, .exif_width = 64});
  SinkOptions options{.overwrite = true};
  options.width = 128;
  options.height = 96;
  const auto source = open_source(in);
  const auto sink = open_sink(folder / "out.png", *source, options);
  Frame frame = *source->read();
  FrameFormat format = frame.format;
  format.width = 128;
  format.height = 96;
  FramePool pool(format);
  Frame large = pool.acquire();
  large.copy_info(frame);
  sink->write(std::move(large));
  sink->finish();
  EXPECT_EQ(read_photo(folder / "out.png").exif_width, 128);
}

TEST_F(Photo, KeepsUnchangedDataBitForBit) {
  const std::string in = photo("in", "png", {.make = "Maker", .xmp_title = "Alpha"});
  copy_photo(in, folder / "out.png");
  EXPECT_EQ(png_chunks(folder / "out.png", "eXIf"), png_chunks(in, "eXIf"));
  EXPECT_EQ(png_chunks(folder / "out.png", "iTXt"), png_chunks(in, "iTXt"));
}

TEST_F(Photo, KeepsTextsAndPrivateChunksOfPng) {
  const std::string in = photo("in", "png", {});
  const std::string international(
      "Title\0\0\0de\0Titel\0Gr\xC3\xB6\xC3\x9F"
      "e",
      24);
  add_png_chunk(in, "iTXt", international);
  add_png_chunk(in, "tEXt", std::string("Comment\0a\xE9z", 11));
  add_png_chunk(in, "prVt", "private");  // safe to copy
  add_png_chunk(in, "prVT", "private");  // depends on the samples
  add_png_chunk(in, "iDOT", "rows");     // describes only the encoding
  add_png_chunk(in, "sRGB", std::string(1, '\1'));
  const Copied copied = copy_photo(in, folder / "out.png");
  EXPECT_THAT(copied.losses, ElementsAre(HasSubstr("the PNG chunk prVT")));
  for (const char* type : {"iTXt", "tEXt", "prVt", "sRGB"})
    EXPECT_EQ(png_chunks(folder / "out.png", type), png_chunks(in, type)) << type;
  EXPECT_THAT(png_chunks(folder / "out.png", "iDOT"), IsEmpty());
  EXPECT_THAT(copy_photo(in, folder / "out.jpg").losses,
              ElementsAre(AllOf(HasSubstr("the PNG chunk prVT"), HasSubstr("prVt"))));
  const auto file = read_file(folder / "out.jpg");
  EXPECT_THAT(std::string(file.begin(), file.end()), HasSubstr("Title: Gr\xC3\xB6\xC3\x9F"
                                                               "e"));
}

// The density of pixels must not be 0 (pHYs), also if the input states none.
TEST_F(Photo, PngOfUnknownResolutionHasSquarePixels) {
  for (const std::string from : {"jpg", "tif", "webp"}) {
    copy_photo(photo("in", from, {}), folder / "out.png");
    for (const std::string& density : png_chunks(folder / "out.png", "pHYs"))
      EXPECT_EQ(density.substr(0, 4), density.substr(4, 4)) << from;
  }
}

TEST_F(Photo, ReportsMetadataThatAreTooLongForJpeg) {
  const std::string in = photo("in", "png", {.xmp_title = std::string(70000, 'T')});
  // An EXIF directory with one tag: the manufacturer, as a text of 70000 bytes.
  std::string exif("II*\0\x8\0\0\0\1\0\x0F\1\2\0\x70\x11\1\0\x1A\0\0\0\0\0\0\0", 26);
  exif += std::string(69999, 'M') + '\0';
  add_png_chunk(in, "eXIf", exif);
  EXPECT_THAT(copy_photo(in, folder / "out.jpg").losses,
              testing::UnorderedElementsAre(HasSubstr("EXIF"), HasSubstr("XMP")));
  EXPECT_THAT(copy_photo(in, folder / "out.webp").losses, IsEmpty());
  EXPECT_EQ(read_photo(folder / "out.webp").make.size(), 69999u);
}

TEST_F(Photo, ReportsDamagedExif) {
  const std::string in = photo("in", "png", {});
  add_png_chunk(in, "eXIf", "no TIFF structure");
  EXPECT_THAT(copy_photo(in, folder / "out.jpg").losses, ElementsAre(HasSubstr("damaged")));
}

TEST_F(Photo, DropsAProfileOfOtherChannels) {
  const std::string in = photo("in", "png", {.icc = [] {
                                 auto profile = rgb_profile();
                                 std::copy_n("GRAY", 4, profile.begin() + 16);
                                 return profile;
                               }()});
  EXPECT_THAT(copy_photo(in, folder / "out.jpg").losses, ElementsAre(HasSubstr("ICC")));
  EXPECT_THAT(read_photo(folder / "out.jpg").icc, IsEmpty());
}

TEST_F(Photo, EachPictureOfASequenceKeepsItsMetadata) {
  photo("in1", "jpg", {.make = "One"});
  photo("in2", "jpg", {.make = "Two", .orientation = 3});
  photo("in3", "jpg", {});
  for (const std::string to : {"png", "jpg", "tif", "webp"}) {
    EXPECT_THAT(copy_photo(folder / "in%d.jpg", folder / ("out%d." + to)).losses, IsEmpty());
    EXPECT_EQ(read_photo(folder / ("out1." + to)).make, "One");
    EXPECT_EQ(read_photo(folder / ("out2." + to)).make, "Two");
    EXPECT_EQ(read_photo(folder / ("out2." + to)).orientation, 3);
    EXPECT_EQ(read_photo(folder / ("out3." + to)).make, "");
  }
}

TEST_F(Photo, RefusesASequenceWhosePicturesNeedDifferentRotations) {
  photo("in1", "jpg", {});
  photo("in2", "jpg", {.orientation = 6});
  EXPECT_THROW(copy_photo(folder / "in%d.jpg", folder / "out%d.ppm"), InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder / "out2.ppm"));
}

TEST_F(Photo, WarnsOnceForAVideo) {
  photo("in1", "jpg", {.make = "One"});
  photo("in2", "jpg", {.make = "Two"});
  EXPECT_THAT(copy_photo(folder / "in%d.jpg", folder / "out.mkv").losses,
              Contains(HasSubstr("EXIF metadata (.mkv")).Times(1));
}

TEST_F(Photo, ALossIsAnErrorIfMetadataAreStrict) {
  const std::string in = photo("in", "jpg", {.make = "Maker"});
  const SinkOptions strict{.strict_metadata = true};
  EXPECT_THROW(copy_photo(in, folder / "out.ppm", strict), InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder / "out.ppm"));
  EXPECT_NO_THROW(copy_photo(in, folder / "out.png", strict));
  // A later picture of the sequence has other metadata.
  photo("s1", "jpg", {});
  photo("s2", "jpg", {.make = "Maker"});
  EXPECT_THROW(copy_photo(folder / "s%d.jpg", folder / "s%d.ppm", strict), InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder / "s2.ppm"));
}

TEST_F(Photo, ProbePredictsTheLosses) {
  const std::string in = photo("in", "png",
                               {.make = "Maker",
                                .xmp_title = "Alpha",
                                .caption = "Beta",
                                .icc = rgb_profile(),
                                .texts = "Ann",
                                .gamma = 45455});
  for (const std::string to : {"jpg", "png", "tif", "webp", "ppm", "mkv"}) {
    const std::string out = folder / ("out." + to);
    EXPECT_EQ(probe(in, {}, out, {}).lost, copy_photo(in, out).losses) << to;
  }
}

// A small AVIF file with EXIF and a rotation of its own.
TEST_F(Photo, ReadsTheOrientationOfAvif) {
  if (!avcodec_find_decoder(AV_CODEC_ID_AV1)) GTEST_SKIP() << "this FFmpeg has no decoder of AV1";
  const std::string in = LULL_SOURCE_FOLDER "/tests/fuzz/seeds/photo/a.avif";
  EXPECT_TRUE(open_source(in)->info().still);
  EXPECT_THAT(copy_photo(in, folder / "out.png").losses, IsEmpty());
  EXPECT_EQ(read_photo(folder / "out.png").make, "Maker");
  EXPECT_EQ(read_photo(folder / "out.png").orientation, 6);
}

// The name of the segment APP1 is a part of the name of APP11.
TEST(Preparation, NamesEachLostSegmentOnce) {
  PictureMetadata metadata;
  for (const char* name : {"the JPEG segment APP11", "the JPEG segment APP1",
                           "the JPEG segment APP11", "the JPEG segment APP1"})
    metadata.native.push_back({PictureKind::jpeg, name, {}, {}});
  EXPECT_THAT(prepare_metadata(metadata, {.kind = PictureKind::png, .name = ".png"}).losses,
              ElementsAre(testing::StartsWith("the JPEG segment APP11, the JPEG segment APP1 (")));
}

// The box "brob" contains the type of another box, and its data in Brotli's compression.
TEST(JpegXl, CompressedMetadataAreReportedAsLost) {
  constexpr std::string_view file{
      "\0\0\0\x0CJXL \r\n\x87\n"
      "\0\0\0\x10"
      "brobExif\x0B\2\x80\0"
      "\0\0\0\x10"
      "brobxml \x0B\2\x80\0",
      44};
  const PictureMetadata metadata =
      read_metadata({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
  EXPECT_THAT(prepare_metadata(metadata, {.kind = PictureKind::png, .name = ".png"}).losses,
              ElementsAre(AllOf(HasSubstr("the compressed EXIF metadata of JPEG XL"),
                                HasSubstr("the compressed XMP metadata of JPEG XL"))));
}

TEST_F(Photo, ReadsMetadataFromAPipe) {
  const std::string in = photo("in", "jpg", {.make = "Maker", .orientation = 6});
  std::FILE* file = std::fopen(in.c_str(), "rb");
  const auto source = open_source("-", {.descriptor = fileno(file)});
  const auto sink = open_sink(folder / "out.png", *source, {});
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  std::fclose(file);
  EXPECT_EQ(read_photo(folder / "out.png").make, "Maker");
}

}  // namespace
}  // namespace lull::io::test
