// Tests pictures in TIFF files: colours that libtiff converts, damage, and rejected files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "io/support/clip.h"
#include "io/support/tiff_pictures.h"

namespace lull::io::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class TiffPictures : public TiffFiles {
 protected:
  std::string refusal() {
    try {
      count_frames(in);
    } catch (const BadData& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      return error.what();
    }
    return "";
  }
};

/// Returns a sample of a smooth RGB picture.
int smooth(int x, int y, int i) {
  return static_cast<int>(120 + 60 * std::sin(x / 9.0 + i) + 30 * std::cos(y / 7.0));
}

double mean_error(const Frame& frame) {
  double sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < frame.format.height; ++y)
      for (int x = 0; x < frame.format.width; ++x)
        sum += std::abs(frame.plane<std::uint8_t>(i)(x, y) - smooth(x, y, i));
  return sum / (3.0 * frame.format.width * frame.format.height);
}

TEST_F(TiffPictures, JpegInTiffIsConvertedToRgb) {
  if (!TIFFIsCODECConfigured(COMPRESSION_JPEG)) GTEST_SKIP() << "this libtiff has no JPEG";
  for (const bool tiled : {false, true}) {
    for (const int photometric : {PHOTOMETRIC_YCBCR, PHOTOMETRIC_RGB}) {
      {
        const TiffFile file(TIFFOpen(in.c_str(), "w"));
        TIFF* t = file.get();
        PictureSpec spec{.name = "",
                         .photometric = photometric,
                         .codec = COMPRESSION_JPEG,
                         .tile = tiled ? 32 : 0,
                         .width = 100,
                         .height = 80};
        write_picture(t, spec);  // sets the tags; the samples follow
        std::vector<std::uint8_t> chunk(tiled ? 32 * 32 * 3 : 100 * 16 * 3);
        const int w = tiled ? 32 : 100, h = tiled ? 32 : 16;
        std::uint32_t number = 0;
        for (int y = 0; y < 80; y += h)
          for (int x = 0; x < 100; x += w, ++number) {
            for (int v = 0; v < h; ++v)
              for (int u = 0; u < w; ++u)
                for (int i = 0; i < 3; ++i)
                  chunk[(v * w + u) * 3 + i] = static_cast<std::uint8_t>(smooth(x + u, y + v, i));
            const auto bytes = static_cast<tmsize_t>(chunk.size());
            if (tiled)
              TIFFWriteEncodedTile(t, number, chunk.data(), bytes);
            else
              TIFFWriteEncodedStrip(t, number, chunk.data(), bytes);
          }
      }
      EXPECT_LT(mean_error(*open_source(in)->read()), 3) << tiled << " " << photometric;
      const auto source = open_source(in);
      const auto sink = open_sink(out, *source, {.overwrite = true, .strict_metadata = true});
      EXPECT_THAT(sink->notes(), ElementsAre(HasSubstr("JPEG")));
      sink->write(*source->read());
      sink->finish();
      EXPECT_LT(mean_error(*open_source(out)->read()), 3);
      const TiffFile result(TIFFOpen(out.c_str(), "r"));
      EXPECT_EQ(tag_of<std::uint16_t>(result.get(), TIFFTAG_PHOTOMETRIC), PHOTOMETRIC_RGB);
      EXPECT_EQ(tag_of<std::uint16_t>(result.get(), TIFFTAG_COMPRESSION),
                COMPRESSION_ADOBE_DEFLATE);
    }
  }
}

// FFmpeg writes YCbCr with subsampled chroma and without JPEG.
TEST_F(TiffPictures, SubsampledYcbcrIsConvertedToRgb) {
  if (!has_encoder("tiff")) GTEST_SKIP() << "this FFmpeg lacks tiff";
  ClipSpec spec;
  spec.encoder = "tiff";
  spec.muxer = "image2pipe";
  spec.frames = 1;
  for (const AVPixelFormat format :
       {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV410P}) {
    spec.format = format;
    for (const char* codec : {"raw", "deflate", "lzw"}) {
      spec.encoder_options = {{"compression_algo", codec}};
      make_clip(in, spec);
      const auto frame = open_source(in)->read();
      ASSERT_TRUE(frame);
      EXPECT_EQ(frame->format.layout, Layout::rgb);
      double sum = 0;
      for (int y = 0; y < 48; ++y)
        for (int x = 0; x < 64; ++x) sum += frame->plane<std::uint8_t>(1)(x, y);
      EXPECT_GT(sum / (64 * 48), 30) << codec;
      EXPECT_LT(sum / (64 * 48), 225) << codec;
    }
  }
}

TEST_F(TiffPictures, UnsupportedSamplesAreNamed) {
  const auto text_for = [&](const PictureSpec& spec) {
    make_picture(in, spec);
    return refusal();
  };
  EXPECT_THAT(text_for({.name = "", .samples = 4, .photometric = PHOTOMETRIC_SEPARATED}),
              HasSubstr("has CMYK samples (must be grey or RGB); convert it first"));
  EXPECT_THAT(text_for({.name = "", .photometric = PHOTOMETRIC_CIELAB}), HasSubstr("L*a*b*"));
  EXPECT_THAT(text_for({.name = "", .photometric = PHOTOMETRIC_ICCLAB}), HasSubstr("L*a*b*"));
  EXPECT_THAT(text_for({.name = "", .samples = 1, .bits = 16, .photometric = PHOTOMETRIC_CFA}),
              HasSubstr("develop it first"));
  EXPECT_THAT(text_for({.name = "", .samples = 1, .photometric = 4711}), HasSubstr("4711"));
  EXPECT_THAT(text_for({.name = "", .form = SAMPLEFORMAT_INT}), HasSubstr("signed"));
  EXPECT_THAT(text_for({.name = "", .bits = 32, .form = SAMPLEFORMAT_COMPLEXINT}),
              HasSubstr("complex"));
}

/// Encodes a row of RGB floats with the floating-point predictor (Adobe, TIFF Technical Note 3):
/// the bytes of equal significance lie together, as differences.
std::vector<std::uint8_t> predicted_row(const std::vector<float>& samples) {
  constexpr std::size_t stride = 3;
  std::vector<std::uint8_t> row(4 * samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i)
    for (std::size_t byte = 0; byte < 4; ++byte)
      row[byte * samples.size() + i] =
          static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(samples[i]) >> (24 - 8 * byte));
  for (std::size_t i = row.size(); i-- > stride;)
    row[i] = static_cast<std::uint8_t>(row[i] - row[i - stride]);
  return row;
}

/// Wraps at most 65535 bytes in a zlib stream without compression (RFC 1950, RFC 1951).
std::vector<std::uint8_t> stored_deflate(const std::vector<std::uint8_t>& data) {
  const auto low = static_cast<std::uint8_t>(data.size()),
             high = static_cast<std::uint8_t>(data.size() >> 8);
  std::vector<std::uint8_t> out{0x78, 1, 1, low, high};
  for (const std::uint8_t byte : {low, high}) out.push_back(static_cast<std::uint8_t>(~byte));
  out.insert(out.end(), data.begin(), data.end());
  std::uint32_t a = 1, b = 0;
  for (const std::uint8_t byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  for (const std::uint32_t sum : {b >> 8, b, a >> 8, a})
    out.push_back(static_cast<std::uint8_t>(sum));
  return out;
}

// libtiff 4.5 itself writes wrong samples into such files, so the test encodes the samples.
TEST_F(TiffPictures, FloatsWithAPredictorKeepTheirValuesInBothByteOrders) {
  constexpr int width = 20;
  std::vector<float> samples;
  for (int i = 0; i < 3 * width; ++i) samples.push_back(0.1F + 0.01F * static_cast<float>(i));
  for (const char* mode : {"wl", "wb"}) {
    {
      const TiffFile file(TIFFOpen(in.c_str(), mode));
      TIFF* t = file.get();
      TIFFSetField(t, TIFFTAG_IMAGEWIDTH, width);
      TIFFSetField(t, TIFFTAG_IMAGELENGTH, 1);
      TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 3);
      TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 32);
      TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
      TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
      TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
      TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
      TIFFSetField(t, TIFFTAG_PREDICTOR, PREDICTOR_FLOATINGPOINT);
      TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 1);
      std::vector<std::uint8_t> strip = stored_deflate(predicted_row(samples));
      TIFFWriteRawStrip(t, 0, strip.data(), static_cast<tmsize_t>(strip.size()));
    }
    const auto source = open_source(in);
    const auto sink = open_sink(out, *source, {.overwrite = true, .strict_metadata = true});
    sink->write(*source->read());
    sink->finish();
    const TiffFile result(TIFFOpen(out.c_str(), "r"));
    EXPECT_EQ(TIFFIsBigEndian(result.get()) != 0, std::string(mode) == "wb");
    const auto frame = open_source(out)->read();
    ASSERT_TRUE(frame);
    for (int x = 0; x < width; ++x)
      for (int i = 0; i < 3; ++i)
        ASSERT_EQ(frame->plane<float>(i)(x, 0), samples[static_cast<std::size_t>(3 * x + i)])
            << mode << " at " << x;
  }
}

// The first page of a raw photograph is a preview.
TEST_F(TiffPictures, RawPhotographIsRefused) {
  {
    const TiffFile file(TIFFOpen(in.c_str(), "w"));
    const std::uint64_t none[1] = {0};
    TIFFSetField(file.get(), TIFFTAG_SUBIFD, 1, none);
    write_picture(file.get(), {.name = ""});
    TIFFWriteDirectory(file.get());
    write_picture(file.get(),
                  {.name = "", .samples = 1, .bits = 16, .photometric = PHOTOMETRIC_CFA});
    TIFFWriteDirectory(file.get());
  }
  EXPECT_THAT(refusal(), HasSubstr("raw data of a camera sensor"));
}

TEST_F(TiffPictures, VideoFrameBecomesRgb) {
  make_clip(folder / "a.mkv", {});
  const auto source = open_source(folder / "a.mkv");
  const auto sink = open_sink(out, *source, {.single = true});
  EXPECT_THAT(sink->notes(), ElementsAre(HasSubstr("samples become rgb24")));
  sink->write(*source->read());
  sink->finish();
  EXPECT_EQ(decode(out).format, AV_PIX_FMT_RGB24);
}

TEST_F(TiffPictures, RejectedResultBecomesAPartialFile) {
  make_clip(folder / "a.png", png_spec());
  const auto source = open_source(folder / "a.png");
  const auto sink = open_sink(out, *source, {});
  EXPECT_THAT(sink->temporary(), HasSubstr(".tmp"));
  sink->write(*source->read());
  EXPECT_EQ(sink->finish_if([] { return false; }), folder / "out.partial.tif");
  EXPECT_THAT(folder.files(), ElementsAre("a.png", "out.partial.tif"));
}

// A damaged strip must be an error. It must never become a black picture or show uninitialised
// memory.
TEST_F(TiffPictures, DamagedStripsAreErrors) {
  for (const int codec : {COMPRESSION_ADOBE_DEFLATE, COMPRESSION_LZMA}) {
    if (!TIFFIsCODECConfigured(static_cast<std::uint16_t>(codec))) continue;
    make_picture(in, {.name = "", .codec = codec});
    const std::vector<std::uint8_t> whole = read_file(in);
    int refused = 0, trials = 0;
    for (std::size_t at = 60; at + 400 < whole.size(); at += whole.size() / 29) {
      std::vector<std::uint8_t> bytes = whole;
      bytes[at] ^= 4;
      write_file(in, bytes);
      ++trials;
      try {
        count_frames(in);
      } catch (const BadData&) {
        ++refused;
      }
    }
    // LZMA in TIFF has no checksum of the samples.
    EXPECT_GE(refused, codec == COMPRESSION_ADOBE_DEFLATE ? trials : trials / 3) << codec;
  }
}

TEST_F(TiffPictures, DamagedJpegIsAnError) {
  if (!TIFFIsCODECConfigured(COMPRESSION_JPEG)) GTEST_SKIP() << "this libtiff has no JPEG";
  make_picture(in, {.name = "",
                    .photometric = PHOTOMETRIC_YCBCR,
                    .codec = COMPRESSION_JPEG,
                    .width = 64,
                    .height = 64});
  std::uint64_t begin = 0, bytes = 0;
  {
    const TiffFile file(TIFFOpen(in.c_str(), "r"));
    begin = TIFFGetStrileOffset(file.get(), 1);
    bytes = TIFFGetStrileByteCount(file.get(), 1);
  }
  EXPECT_EQ(refusal(), "");
  std::vector<std::uint8_t> damaged = read_file(in);
  for (std::uint64_t i = bytes / 2; i < bytes; ++i) damaged[begin + i] = 0;
  write_file(in, damaged);
  EXPECT_THAT(refusal(), HasSubstr("damaged or cut short"));
}

TEST_F(TiffPictures, LimitOfPixelsAppliesBeforeMemoryIsAllocated) {
  {
    const TiffFile file(TIFFOpen(in.c_str(), "w8"));
    write_picture(file.get(), {.name = ""});
    TIFFSetField(file.get(), TIFFTAG_IMAGELENGTH, 37);
  }
  std::string text;
  try {
    (void)open_source(in, {.limits = {.pixels = 45 * 37 - 1}});
  } catch (const BadData& error) {
    text = error.what();
  }
  EXPECT_THAT(text, HasSubstr("--max-pixels"));
  std::vector<std::uint8_t> bytes = read_file(in);
  // The directory of BigTIFF has entries of 20 bytes: tag, type, count, value.
  std::size_t at = 0;
  for (int i = 7; i >= 0; --i) at = at << 8 | bytes[8 + i];
  for (const std::size_t count = bytes[at]; at < bytes.size() && count > 0; at += 20)
    if ((bytes[at + 8] | bytes[at + 9] << 8) == TIFFTAG_IMAGELENGTH) break;
  bytes.at(at + 8 + 12 + 1) = 0x60;  // 24613 rows
  write_file(in, bytes);
  EXPECT_THAT(refusal(), HasSubstr("more samples than"));
}

}  // namespace
}  // namespace lull::io::test
