// Tests pictures as the frames of a clip, as input and as output.

#include "io/pictures/sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

#include "core/error.h"
#include "io/ffmpeg/pixel_formats.h"
#include "io/support/clip.h"
#include "io/support/tiff_pictures.h"

namespace lull::io::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(SequenceNames, NumberPatternsAreParsed) {
  EXPECT_EQ(number_pattern("d%d/in.%04d.png")->name(7), "d%d/in.0007.png");
  EXPECT_EQ(number_pattern("in.####.tif")->name(12345), "in.12345.tif");
  EXPECT_EQ(number_pattern("in%d.png")->name(7), "in7.png");
  EXPECT_EQ(number_pattern("100%%_%2d.png")->name(7), "100%_07.png");
  EXPECT_EQ(number_pattern("in#.png")->name(7), "in7.png");
  for (const char* name : {"in.png", "a%s.png", "%", "a%0", "d%d/in.png", "100%.png", ""})
    EXPECT_FALSE(number_pattern(name)) << name;
  EXPECT_THROW((void)number_pattern("a%d_%d.png"), InvalidArgument);
  EXPECT_THROW((void)number_pattern("a##_%d.png"), InvalidArgument);
  EXPECT_EQ(star_pattern("d/shot_*.tif")->name("x"), "d/shot_x.tif");
  for (const char* name : {"d*/a.tif", "*a*", "a?*", "a[1]*", "a"})
    EXPECT_FALSE(star_pattern(name)) << name;
}

std::vector<std::string> names_of(const std::vector<SequenceFile>& files) {
  std::vector<std::string> names;
  for (const SequenceFile& file : files) names.push_back(fs::path(file.path).filename());
  return names;
}

TEST(SequenceNames, FindsFilesOfAPattern) {
  const TemporaryFolder folder;
  for (const char* name : {"a.0009.png", "a.0010.png", "a.0012.png", "a.12000.png", "a.00013.png",
                           "a.14.png", "a.001x.png", "b.0001.png", ".a.0001.png", "a.0011.png.tmp"})
    write_file(folder / name, {1});
  const auto files = find_sequence(folder / "a.%04d.png");
  EXPECT_EQ(names_of(files),
            (std::vector<std::string>{"a.0009.png", "a.0010.png", "a.0012.png", "a.12000.png"}));
  EXPECT_EQ(missing_numbers(files), "11, 13-11999");
  EXPECT_EQ(names_of(find_sequence(folder / "a.%d.png")),
            (std::vector<std::string>{"a.14.png", "a.12000.png"}));
  const auto matches = find_sequence(folder / "?.*.png");
  EXPECT_EQ(matches.size(), 8u);
  EXPECT_TRUE(matches.front().match.empty());
  EXPECT_EQ(names_of(find_sequence(folder / "a.*.png")),
            (std::vector<std::string>{"a.001x.png", "a.0009.png", "a.0010.png", "a.0012.png",
                                      "a.00013.png", "a.14.png", "a.12000.png"}));
  EXPECT_EQ(find_sequence(folder / "b.*.png")[0].match, "0001");
  EXPECT_THROW((void)find_sequence(folder / "c.%d.png"), NoInput);
  EXPECT_THROW((void)find_sequence(folder / "none/c.%d.png"), NoInput);
  EXPECT_TRUE(is_sequence(folder / "a.%04d.png"));
  write_file(folder / "a.%04d.png", {1});
  EXPECT_FALSE(is_sequence(folder / "a.%04d.png")) << "a file of this very name is that file";
}

struct PictureKind {
  const char* name;
  const char* encoder;
  const char* extension;
  AVPixelFormat format;
};

void make_picture(const std::string& path, const PictureKind& kind, int width = 45,
                  int height = 33) {
  ClipSpec spec;
  spec.width = width;
  spec.height = height;
  spec.frames = 1;
  spec.format = kind.format;
  spec.encoder = kind.encoder;
  spec.muxer = "image2pipe";
  if (kind.encoder == std::string("mjpeg"))
    spec.set_up = [](AVCodecContext& e) { e.color_range = AVCOL_RANGE_JPEG; };
  make_clip(path, spec);
}

class Pictures : public testing::TestWithParam<PictureKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Pictures,
                         testing::Values(PictureKind{"png8", "png", "png", AV_PIX_FMT_RGB24},
                                         PictureKind{"png16", "png", "png", AV_PIX_FMT_RGBA64BE},
                                         PictureKind{"png_grey", "png", "png", AV_PIX_FMT_GRAY16BE},
                                         PictureKind{"tiff8", "tiff", "tif", AV_PIX_FMT_RGB24},
                                         PictureKind{"tiff16", "tiff", "tif", AV_PIX_FMT_RGB48LE},
                                         PictureKind{"tiff_grey", "tiff", "tiff",
                                                     AV_PIX_FMT_GRAY16LE},
                                         PictureKind{"pgm", "pgm", "pgm", AV_PIX_FMT_GRAY8},
                                         PictureKind{"pgm16", "pgm", "pgm", AV_PIX_FMT_GRAY16BE},
                                         PictureKind{"ppm", "ppm", "ppm", AV_PIX_FMT_RGB24},
                                         PictureKind{"ppm16", "ppm", "ppm", AV_PIX_FMT_RGB48BE},
                                         PictureKind{"pam", "pam", "pam", AV_PIX_FMT_RGBA},
                                         PictureKind{"jpeg", "mjpeg", "jpg", AV_PIX_FMT_YUVJ420P}),
                         [](const auto& param) { return std::string(param.param.name); });

// File numbers are kept, also across a gap. Samples are kept if the file format is lossless.
TEST_P(Pictures, KeepFormatNumbersAndSamples) {
  const PictureKind& kind = GetParam();
  if (!has_encoder(kind.encoder)) GTEST_SKIP() << "no encoder " << kind.encoder;
  const TemporaryFolder folder;
  const std::string end = std::string(".") + kind.extension;
  for (const char* number : {"0008", "0009", "0011"})
    make_picture(folder / ("in." + (number + end)), kind);
  EXPECT_EQ(transcode(folder / ("in.%04d" + end), folder / ("out.###" + end)), 3);
  for (const char* number : {"008", "009", "011"}) {
    const Decoded in = decode(folder / ("in.0" + (number + end)));
    const Decoded out = decode(folder / ("out." + (number + end)));
    EXPECT_EQ(traits_of(out.format), traits_of(in.format));
    if (kind.encoder == std::string("mjpeg")) continue;
    EXPECT_EQ(out.pictures[0].bytes, in.pictures[0].bytes) << number;
  }
  EXPECT_EQ(folder.files().size(), 6u);
}

const PictureKind grey_png{"", "png", "png", AV_PIX_FMT_GRAY8};

class Sequences : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"in.1.png", "in.2.png", "in.3.png", "in.5.png"})
      make_picture(folder_ / name, grey_png);
  }
  std::string refusal(const std::string& from, const std::string& to,
                      const SinkOptions& options = {}) {
    try {
      transcode(folder_ / from, to == "null" ? to : folder_ / to, options);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  TemporaryFolder folder_;
};

TEST_F(Sequences, MissingNumbersAreReported) {
  const auto source = open_source(folder_ / "in.%d.png");
  ASSERT_EQ(source->info().notes.size(), 1u);
  EXPECT_THAT(source->info().notes[0], HasSubstr("no number 4"));
  EXPECT_EQ(source->info().frames_estimate, 4);
  EXPECT_FALSE(source->info().still);
}

TEST_F(Sequences, ConvertToVideoAndBackAtTheirRate) {
  {
    const auto source = open_source(folder_ / "in.%d.png", {.rate = {24000, 1001}});
    const auto sink = open_sink(folder_ / "out.mkv", *source, {.lossless = true});
    while (auto frame = source->read()) sink->write(std::move(*frame));
    sink->finish();
  }
  const Decoded video = decode(folder_ / "out.mkv");
  ASSERT_EQ(video.pictures.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(video.pictures[i].time, i * 1001.0 / 24000, 1e-3);
  EXPECT_EQ(transcode(folder_ / "out.mkv", folder_ / "back.%02d.png"), 4);
  for (const auto& [in, out] : {std::pair{"in.1.png", "back.00.png"}, {"in.5.png", "back.03.png"}})
    EXPECT_EQ(decode(folder_ / in).pictures[0].bytes, decode(folder_ / out).pictures[0].bytes);
}

TEST_F(Sequences, OutputNamesRepeatTheMatchOfAStar) {
  EXPECT_EQ(transcode(folder_ / "in.*.png", folder_ / "out_*_.png"), 4);
  EXPECT_TRUE(fs::exists(folder_ / "out_5_.png"));
  EXPECT_EQ(transcode(folder_ / "in.[12].png", folder_ / "n.%d.png"), 2);
  EXPECT_TRUE(fs::exists(folder_ / "n.0.png"));
  EXPECT_THAT(refusal("in.[12].png", "x*.png"), HasSubstr("no number"));
  EXPECT_THAT(refusal("in.%d.png", "x*.png"), HasSubstr("no number"));
}

TEST_F(Sequences, ExistingFilesAreNotOverwrittenByDefault) {
  write_file(folder_ / "out.3.png", {7});
  EXPECT_THAT(refusal("in.%d.png", "out.%d.png"), HasSubstr("out.3.png' exists"));
  EXPECT_FALSE(fs::exists(folder_ / "out.1.png")) << "known before the first";
  EXPECT_EQ(refusal("in.%d.png", "out.%d.png", {.overwrite = true}), "");
  EXPECT_NE(read_file(folder_ / "out.3.png"), std::vector<std::uint8_t>{7});
  EXPECT_THAT(refusal("in.%d.png", "in.%d.png", {.overwrite = true}), HasSubstr("both input and"));
  EXPECT_THAT(refusal("in.%d.png", "in.#.png", {.overwrite = true}), HasSubstr("both input and"));
  EXPECT_THAT(refusal("in.%d.png", "none/in.%d.png"), HasSubstr("no such folder"));
}

TEST_F(Sequences, PicturesOfAnotherSizeOrFormatAreRejected) {
  make_picture(folder_ / "in.6.png", grey_png, 44, 33);
  EXPECT_THAT(refusal("in.%d.png", "null"), HasSubstr("in.6.png' is 44x33 gray ('"));
  make_picture(folder_ / "in.6.png", {"", "png", "png", AV_PIX_FMT_RGB24});
  EXPECT_THAT(refusal("in.%d.png", "null"), HasSubstr("in.6.png' is 45x33 rgb24"));
  make_picture(folder_ / "in.6.png", {"", "pgm", "pgm", AV_PIX_FMT_GRAY8});
  EXPECT_THAT(refusal("in.%d.png", "null"), HasSubstr("in.6.png' is pgm_pipe"));
  write_file(folder_ / "in.6.png", {'x'});
  EXPECT_THAT(refusal("in.%d.png", "null"), HasSubstr("in.6.png' is no picture"));
  write_file(folder_ / "in.6.png", {});
  EXPECT_THAT(refusal("in.%d.png", "null"), HasSubstr("in.6.png' is empty"));
}

TEST_F(Sequences, TruncatedFileIsNamedAndLeavesNoPartialOutput) {
  auto bytes = read_file(folder_ / "in.3.png");
  for (const std::size_t length : {bytes.size() - 1, bytes.size() / 2}) {
    write_file(folder_ / "in.3.png", {bytes.begin(), bytes.begin() + static_cast<long>(length)});
    EXPECT_THAT(refusal("in.%d.png", "out.%d.png", {.overwrite = true}),
                HasSubstr("in.3.png' is cut short"));
    for (const std::string& name : folder_.files()) {
      EXPECT_FALSE(name.starts_with('.')) << name;
      if (name.starts_with("out")) {
        EXPECT_EQ(count_frames(folder_ / name), 1);
      }
    }
  }
}

TEST_F(Sequences, FilesThatAreNotPicturesAreRejected) {
  make_clip(folder_ / "a1.mkv", {});
  EXPECT_THAT(refusal("a%d.mkv", "o.%d.png"), HasSubstr("is no picture"));
  make_clip(folder_ / "a.mkv", {});
  EXPECT_THAT(refusal("a.mkv", "a.png"), HasSubstr("still picture"));
}

// A layout that a file of floats may have; libtiff itself writes these files.
struct FloatTiff {
  const char* name;
  int samples, bits;
  bool tiles, apart;
  int compression;
};

std::uint16_t half_of(float value) {  // for normal numbers within the range of half
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) |
                                    (bits >> 13 & 1023));
}

float sample_at(int x, int y, int i) {  // exact in 16 bits
  return (x % 32 + 1) * 0.03125f + static_cast<float>(y % 4) - static_cast<float>(i);
}

void put(std::vector<std::uint8_t>& to, std::size_t at, int bits, float value) {
  if (bits == 32) {
    std::memcpy(&to[4 * at], &value, 4);
  } else {
    const std::uint16_t half = value == 0 ? std::uint16_t{0} : half_of(value);
    std::memcpy(&to[2 * at], &half, 2);
  }
}

void make_float_tiff(const std::string& path, const FloatTiff& kind, int width, int height) {
  TIFF* t = TIFFOpen(path.c_str(), "w");
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, kind.samples);
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, kind.bits);
  TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
  TIFFSetField(t, TIFFTAG_COMPRESSION, kind.compression);
  TIFFSetField(t, TIFFTAG_PLANARCONFIG, kind.apart ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC,
               kind.samples == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  const std::uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
  if (kind.samples == 4) TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, &alpha);
  const int stride = kind.apart ? 1 : kind.samples, planes = kind.apart ? kind.samples : 1;
  const int w = kind.tiles ? 16 : width, h = kind.tiles ? 32 : 1;
  if (kind.tiles) {
    TIFFSetField(t, TIFFTAG_TILEWIDTH, w);
    TIFFSetField(t, TIFFTAG_TILELENGTH, h);
  } else {
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 5);
  }
  std::vector<std::uint8_t> part(std::size_t(w) * h * stride * kind.bits / 8);
  for (int plane = 0; plane < planes; ++plane)
    for (int y = 0; y < height; y += h)
      for (int x = 0; x < width; x += w) {
        for (int r = 0; r < h; ++r)
          for (int c = 0; c < w; ++c)
            for (int i = 0; i < stride; ++i)
              put(part, (std::size_t(r) * w + c) * stride + i, kind.bits,
                  x + c < width && y + r < height ? sample_at(x + c, y + r, plane + i) : 0);
        if (kind.tiles) {
          TIFFWriteTile(t, part.data(), x, y, 0, plane);
        } else {
          TIFFWriteScanline(t, part.data(), y, plane);
        }
      }
  TIFFClose(t);
}

class FloatTiffs : public testing::TestWithParam<FloatTiff> {};
INSTANTIATE_TEST_SUITE_P(
    Kinds, FloatTiffs,
    testing::Values(FloatTiff{"grey", 1, 32, false, false, COMPRESSION_NONE},
                    FloatTiff{"rgb", 3, 32, false, false, COMPRESSION_LZW},
                    FloatTiff{"rgba", 4, 32, false, false, COMPRESSION_NONE},
                    FloatTiff{"apart", 3, 32, false, true, COMPRESSION_NONE},
                    FloatTiff{"tiles", 3, 32, true, false, COMPRESSION_ADOBE_DEFLATE},
                    FloatTiff{"tiles_apart", 3, 32, true, true, COMPRESSION_NONE},
                    FloatTiff{"half", 3, 16, false, false, COMPRESSION_NONE},
                    FloatTiff{"half_tiles", 1, 16, true, false, COMPRESSION_NONE}),
    [](const auto& param) { return std::string(param.param.name); });

TEST_P(FloatTiffs, KeepTheirSamples) {
  const FloatTiff& kind = GetParam();
  const TemporaryFolder folder;
  constexpr int width = 45, height = 37;
  for (const char* name : {"in.04.tif", "in.05.tif"})
    make_float_tiff(folder / name, kind, width, height);
  EXPECT_EQ(transcode(folder / "in.%02d.tif", folder / "out.%02d.tif"), 2);
  EXPECT_EQ(transcode(folder / "in.04.tif", folder / "one.tif"), 1);
  const TiffFile in(TIFFOpen((folder / "in.04.tif").c_str(), "r"));
  for (const char* name : {"out.05.tif", "one.tif"}) {
    const TiffFile out(TIFFOpen((folder / name).c_str(), "r"));
    ASSERT_TRUE(out) << name;
    for (const std::uint32_t tag : {TIFFTAG_SAMPLESPERPIXEL, TIFFTAG_BITSPERSAMPLE,
                                    TIFFTAG_SAMPLEFORMAT, TIFFTAG_PLANARCONFIG})
      EXPECT_EQ(tag_of<std::uint16_t>(out.get(), tag), tag_of<std::uint16_t>(in.get(), tag)) << tag;
    EXPECT_TRUE(chunks_of(out.get()) == chunks_of(in.get())) << name;
  }
}

TEST(FloatTiff, TruncationIsBadDataAtEveryLength) {
  const TemporaryFolder folder;
  make_float_tiff(folder / "a.tif", {"", 3, 32, false, false, COMPRESSION_ADOBE_DEFLATE}, 45, 37);
  const auto bytes = read_file(folder / "a.tif");
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 3) {
    write_file(folder / "cut.tif", {bytes.begin(), bytes.begin() + static_cast<long>(length)});
    EXPECT_THROW(count_frames(folder / "cut.tif"), BadData) << length;
  }
}

/// Returns the samples of all frames of a file, or the error that reading it throws.
std::string outcome_of(const std::string& path) {
  std::string samples;
  try {
    const auto source = open_source(path);
    while (const auto frame = source->read())
      for (int i = 0; i < frame->format.planes(); ++i)
        for (int y = 0; y < frame->planes[i].height; ++y)
          samples.append(reinterpret_cast<const char*>(frame->planes[i].row(y)),
                         static_cast<std::size_t>(frame->planes[i].width));
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
  return samples;
}

// The result for a damaged file depends only on the file, not on the contents of memory.
TEST(FloatTiff, DamagedFilesGiveTheSameResultEveryTime) {
  const TemporaryFolder folder;
  make_float_tiff(folder / "a.tif", {"", 3, 32, false, false, COMPRESSION_ADOBE_DEFLATE}, 45, 37);
  const auto bytes = read_file(folder / "a.tif");
  const std::string intact = outcome_of(folder / "a.tif");
  EXPECT_EQ(intact.size(), 45u * 37 * 3 * 4);
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    auto damaged = bytes;
    for (int k = 0; k < 3; ++k)
      damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    write_file(folder / "bad.tif", damaged);
    const std::string first = outcome_of(folder / "bad.tif");
    EXPECT_EQ(outcome_of(folder / "bad.tif"), first) << i;
    refused += first.starts_with("error: ") ? 1 : 0;
  }
  EXPECT_GT(refused, 150) << "most damage is seen";
  EXPECT_EQ(outcome_of(folder / "a.tif"), intact);
}

// EXR: half samples stay half and float samples stay float, bit for bit.
TEST(Exr, SamplesKeepTheirType) {
  if (!has_encoder("exr")) GTEST_SKIP() << "no encoder exr";
  for (const char* kind : {"half", "float"}) {
    for (const AVPixelFormat format :
         {AV_PIX_FMT_GBRPF32, AV_PIX_FMT_GRAYF32, AV_PIX_FMT_GBRAPF32}) {
      const TemporaryFolder folder;
      ClipSpec spec;
      spec.frames = 1;
      spec.width = 45;
      spec.height = 37;
      spec.encoder = "exr";
      spec.muxer = "image2pipe";
      spec.format = format;
      spec.encoder_options = {{"format", kind}, {"compression", "zip1"}};
      make_clip(folder / "in.1.exr", spec);
      EXPECT_EQ(transcode(folder / "in.%d.exr", folder / "out.%d.exr"), 1);
      EXPECT_EQ(transcode(folder / "in.1.exr", folder / "one.exr"), 1);
      const Decoded in = decode(folder / "in.1.exr");
      for (const char* name : {"out.1.exr", "one.exr"}) {
        const Decoded out = decode(folder / name);
        EXPECT_EQ(out.format, in.format);
        EXPECT_EQ(out.pictures[0].bytes, in.pictures[0].bytes) << kind << " " << name_of(format);
        // In the list of channels, the type of the first channel follows its name.
        const auto bytes = read_file(folder / name);
        const std::string text(bytes.begin(), bytes.end());
        const std::size_t channels = text.find("chlist") + 7 + 4;
        EXPECT_EQ(text[channels + 2], kind == std::string("half") ? 1 : 2);
      }
    }
  }
}

}  // namespace
}  // namespace lull::io::test
