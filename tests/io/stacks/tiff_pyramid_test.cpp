// Tests that the pyramids of TIFF stacks, which are sub-images of the pages, are made again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/support/clip.h"
#include "io/support/tiff_pages.h"

namespace lull::io::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int width = 21, height = 14, pages = 3;

struct Image {
  int width, height;
  std::vector<std::uint16_t> samples;
};

Image picture(int width, int height, int seed) {
  Image image{width, height, {}};
  for (int i = 0; i < width * height; ++i)
    image.samples.push_back(static_cast<std::uint16_t>(1000 + (i * 37 + seed * 101) % 500));
  return image;
}

void write_image(TIFF* file, const Image& image, int sub_images, int samples_per_pixel = 1) {
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, image.width / samples_per_pixel);
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, image.height);
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 16);
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, samples_per_pixel);
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC,
               samples_per_pixel == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  TIFFSetField(file, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
  TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, image.height);
  const std::vector<std::uint64_t> offsets(static_cast<std::size_t>(sub_images) + 1);
  if (sub_images > 0) TIFFSetField(file, TIFFTAG_SUBIFD, sub_images, offsets.data());
  std::vector<std::uint16_t> samples = image.samples;
  TIFFWriteEncodedStrip(file, 0, samples.data(), static_cast<tmsize_t>(2 * samples.size()));
  TIFFWriteDirectory(file);
}

Image read_image(TIFF* file) {
  Image image{get<int>(file, TIFFTAG_IMAGEWIDTH), get<int>(file, TIFFTAG_IMAGELENGTH), {}};
  image.samples.resize(static_cast<std::size_t>(image.width * image.height));
  TIFFReadEncodedStrip(file, 0, image.samples.data(),
                       static_cast<tmsize_t>(2 * image.samples.size()));
  return image;
}

/// Returns the mean of a block of up to 2x2 samples, rounded.
double mean_at(const Image& image, int x, int y) {
  double sum = 0;
  int count = 0;
  for (int j = 2 * y; j < std::min(2 * y + 2, image.height); ++j)
    for (int i = 2 * x; i < std::min(2 * x + 2, image.width); ++i, ++count)
      sum += image.samples[static_cast<std::size_t>(j * image.width + i)];
  return sum / count;
}

class TiffPyramid : public testing::Test {
 protected:
  void SetUp() override {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
  }
  TemporaryFolder folder;
  const std::string in = folder / "in.tif", out = folder / "out.tif";
};

TEST_F(TiffPyramid, LevelsAreMeansOfTheFilteredPages) {
  for (const char* mode : {"w", "wb8"}) {
    SCOPED_TRACE(mode);
    {
      const TiffPtr file(TIFFOpen(in.c_str(), mode));
      for (int n = 0; n < pages; ++n) {
        write_image(file.get(), picture(width, height, n), 2);
        write_image(file.get(), picture(11, 7, n + 7), 0);
        write_image(file.get(), picture(5, 4, n + 9), 0);  // 11 / 2 rounded down, 7 / 2 up
      }
    }
    const auto source = open_source(in);
    const auto sink = open_sink(out, *source, {.overwrite = true});
    EXPECT_THAT(sink->losses(), IsEmpty());
    while (auto frame = source->read()) {
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          frame->plane<float>(0)(x, y) +=
              static_cast<float>((10 + 3 * y) / source->info().values.span);
      sink->write(*std::move(frame));
    }
    sink->finish();
    const TiffPtr file(TIFFOpen(out.c_str(), "r"));
    ASSERT_EQ(TIFFNumberOfDirectories(file.get()), static_cast<unsigned>(pages));
    for (int n = 0; n < pages; ++n) {
      ASSERT_TRUE(TIFFSetDirectory(file.get(), n));
      std::uint16_t count = 0;
      const std::uint64_t* stated = nullptr;
      ASSERT_TRUE(TIFFGetField(file.get(), TIFFTAG_SUBIFD, &count, &stated));
      ASSERT_EQ(count, 2);
      const std::vector<std::uint64_t> offsets(stated, stated + count);
      Image before = read_image(file.get());
      EXPECT_NEAR(before.samples[0], picture(width, height, n).samples[0] + 10, 1);
      for (const std::uint64_t offset : offsets) {
        ASSERT_TRUE(TIFFSetSubDirectory(file.get(), offset));
        EXPECT_EQ(get<std::uint16_t>(file.get(), TIFFTAG_COMPRESSION), COMPRESSION_LZW);
        const Image level = read_image(file.get());
        EXPECT_EQ(level.width, before.width == width ? 11 : 5);
        for (int y = 0; y < level.height; ++y)
          for (int x = 0; x < level.width; ++x)
            ASSERT_NEAR(level.samples[static_cast<std::size_t>(y * level.width + x)],
                        mean_at(before, x, y), 0.5);
        before = level;
      }
    }
  }
}

TEST_F(TiffPyramid, SubImagesOfAnotherKindAreLostWithAWarning) {
  for (const int kind : {0, 1, 2}) {
    {
      const TiffPtr file(TIFFOpen(in.c_str(), "w"));
      for (int n = 0; n < pages; ++n) {
        write_image(file.get(), picture(width, height, n), 1);
        if (kind == 0) write_image(file.get(), picture(12, 4, n), 0, 3);      // colours
        if (kind == 1) write_image(file.get(), picture(width + 1, 4, n), 0);  // larger
        if (kind == 2) write_image(file.get(), picture(width, 4, n), 0);      // a level
      }
    }
    const auto source = open_source(in);
    const auto sink = open_sink(out, *source, {.overwrite = true});
    if (kind == 2)
      EXPECT_THAT(sink->losses(), IsEmpty());
    else
      EXPECT_THAT(sink->losses(), Contains(HasSubstr("sub-images"))) << kind;
    while (auto frame = source->read()) sink->write(*std::move(frame));
    sink->finish();
    EXPECT_EQ(count_frames(out), pages);
  }
}

}  // namespace
}  // namespace lull::io::test
