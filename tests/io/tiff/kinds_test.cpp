// Tests pictures in TIFF files of every kind of samples: the samples that are read, and those that
// are written again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/picture.h"
#include "io/support/clip.h"
#include "io/support/tiff_pictures.h"

namespace lull::io::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr int white = PHOTOMETRIC_MINISWHITE, black = PHOTOMETRIC_MINISBLACK,
              palette = PHOTOMETRIC_PALETTE;

const std::vector<PictureSpec>& kinds() {
  static const std::vector<PictureSpec> all = [] {
    std::vector<PictureSpec> list;
    for (const int bits : {1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 14, 16}) {
      const std::string name = std::to_string(bits);
      list.push_back({.name = "grey" + name, .samples = 1, .bits = bits, .photometric = black});
      list.push_back({.name = "white" + name, .samples = 1, .bits = bits, .photometric = white});
      list.push_back({.name = "rgb" + name, .bits = bits});
      list.push_back({.name = "separate" + name, .bits = bits, .separate = true});
      list.push_back({.name = "tiles" + name, .bits = bits, .tile = 16});
      list.push_back({.name = "rgba" + name, .samples = 4, .bits = bits, .extra = 1});
    }
    for (const int bits : {1, 2, 4, 8, 16})
      list.push_back({.name = "palette" + std::to_string(bits),
                      .samples = 1,
                      .bits = bits,
                      .photometric = palette});
    for (const int bits : {16, 32, 64})
      for (const int codec : {COMPRESSION_NONE, COMPRESSION_ADOBE_DEFLATE})
        list.push_back({.name = "floats" + std::to_string(bits) + "_" + std::to_string(codec),
                        .bits = bits,
                        .form = SAMPLEFORMAT_IEEEFP,
                        .codec = codec,
                        .predictor = codec == COMPRESSION_NONE ? 0 : PREDICTOR_FLOATINGPOINT});
    list.push_back({.name = "half_grey",
                    .samples = 1,
                    .bits = 16,
                    .form = SAMPLEFORMAT_IEEEFP,
                    .photometric = black});
    for (const int codec : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
                            COMPRESSION_PACKBITS, COMPRESSION_LZMA, COMPRESSION_ZSTD}) {
      const std::string name = "codec" + std::to_string(codec);
      const bool predicts = codec != COMPRESSION_PACKBITS && codec != COMPRESSION_LZMA;
      const int predictor = predicts ? PREDICTOR_HORIZONTAL : 0;
      list.push_back({.name = name + "_8", .codec = codec});
      list.push_back({.name = name + "_16", .bits = 16, .codec = codec, .predictor = predictor});
      list.push_back({.name = name + "_tiles",
                      .bits = 8,
                      .codec = codec,
                      .predictor = predictor,
                      .separate = true,
                      .tile = 32});
    }
    list.push_back({.name = "lerc16", .bits = 16, .codec = COMPRESSION_LERC});
    for (const int codec : {COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4})
      list.push_back({.name = "fax" + std::to_string(codec),
                      .samples = 1,
                      .bits = 1,
                      .photometric = white,
                      .codec = codec});
    for (const char* mode : {"wb", "w8", "wb8"})
      for (const int bits : {8, 12, 16})
        list.push_back(
            {.name = std::string(mode) + "_" + std::to_string(bits), .bits = bits, .mode = mode});
    list.push_back({.name = "grey_alpha8", .samples = 2, .photometric = black, .extra = 1});
    list.push_back(
        {.name = "grey_alpha16", .samples = 2, .bits = 16, .photometric = black, .extra = 1});
    list.push_back({.name = "masks", .samples = 6, .extra = 3});
    list.push_back({.name = "integers24", .bits = 24});
    list.push_back({.name = "integers32", .bits = 32, .separate = true});
    return list;
  }();
  return all;
}

class TiffKinds : public testing::TestWithParam<PictureSpec> {
 protected:
  void SetUp() override {
    if (!TIFFIsCODECConfigured(static_cast<std::uint16_t>(GetParam().codec)))
      GTEST_SKIP() << "this libtiff lacks the codec";
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
    make_picture(in, GetParam());
  }
  TemporaryFolder folder;
  const std::string in = folder / "in.tif", out = folder / "out.tif";
};
INSTANTIATE_TEST_SUITE_P(All, TiffKinds, testing::ValuesIn(kinds()),
                         [](const auto& info) { return info.param.name; });

/// Returns the value that a sample should have in a frame of `bits` bits, or as a float.
double expected_value(const PictureSpec& spec, int x, int y, int plane, int bits) {
  const bool is_palette = spec.photometric == palette;
  const std::uint64_t raw = sample_bits(spec, x, y, is_palette ? 0 : plane);
  if (is_palette) return static_cast<double>(raw * (plane + 3) & 255);
  if (spec.form == SAMPLEFORMAT_IEEEFP) {
    if (spec.bits == 32) return std::bit_cast<float>(static_cast<std::uint32_t>(raw));
    if (spec.bits == 64) return std::bit_cast<double>(raw);
    const int exponent = static_cast<int>(raw >> 10) - 25;
    return std::ldexp(1024.0 + static_cast<double>(raw & 1023), exponent);
  }
  const double maximum = std::ldexp(1.0, spec.bits) - 1;
  if (bits == 32) return static_cast<float>(static_cast<double>(raw) / maximum);
  const double shown = spec.photometric == white && plane < spec.colours()
                           ? maximum - static_cast<double>(raw)
                           : static_cast<double>(raw);
  return std::round(shown / maximum * (std::ldexp(1.0, bits) - 1));
}

void expect_plane(const Frame& frame, int plane, const PictureSpec& spec, int sample) {
  const int bits = frame.format.bits;
  for (int y = 0; y < spec.height; ++y)
    for (int x = 0; x < spec.width; ++x) {
      const double value = frame.format.sample == SampleType::f32 ? frame.plane<float>(plane)(x, y)
                           : frame.format.sample == SampleType::u8
                               ? frame.plane<std::uint8_t>(plane)(x, y)
                               : frame.plane<std::uint16_t>(plane)(x, y);
      ASSERT_EQ(value, expected_value(spec, x, y, sample, bits))
          << "at " << x << ", " << y << ", sample " << sample;
    }
}

TEST_P(TiffKinds, AreReadExactly) {
  const PictureSpec& spec = GetParam();
  const auto source = open_source(in);
  EXPECT_TRUE(source->info().still);
  const auto frame = source->read();
  ASSERT_TRUE(frame);
  const bool is_palette = spec.photometric == palette;
  ASSERT_EQ(frame->format.planes(), is_palette ? 3 : spec.colours());
  EXPECT_GE(frame->format.bits, is_palette ? 8 : std::min(spec.bits, 32));
  for (int i = 0; i < frame->format.planes(); ++i) expect_plane(*frame, i, spec, i);
  ASSERT_EQ(alpha_of(*frame) != nullptr, spec.extra > 0);
  if (spec.extra > 0) expect_plane(*alpha_of(*frame), 0, spec, spec.colours());
  EXPECT_FALSE(source->read());
}

/// Returns a sample as a share of the maximum value. Float samples do not change.
double level_at(const Frame& frame, int plane, int x, int y) {
  if (frame.format.sample == SampleType::f32)
    return static_cast<double>(frame.plane<float>(plane)(x, y));
  const int sample = frame.format.sample == SampleType::u8
                         ? frame.plane<std::uint8_t>(plane)(x, y)
                         : frame.plane<std::uint16_t>(plane)(x, y);
  return static_cast<double>(sample) / frame.format.max_value();
}

/// Compares planes that may have different depths. The difference is less than a step of the
/// smaller depth.
void expect_near(const Frame& a, const Frame& b, int plane) {
  ASSERT_EQ(a.format.width, b.format.width);
  ASSERT_EQ(a.format.height, b.format.height);
  const int bits = std::min({a.format.bits, b.format.bits, 16});
  const double step = 1 / (std::ldexp(1.0, bits) - 1);
  for (int y = 0; y < a.format.height; ++y)
    for (int x = 0; x < a.format.width; ++x)
      ASSERT_NEAR(level_at(a, plane, x, y), level_at(b, plane, x, y), 1.001 * step)
          << "at " << x << ", " << y << ", plane " << plane;
}

/// Compares the pictures that lull reads from two files.
void expect_same_picture(const std::string& a, const std::string& b) {
  const auto x = open_source(a)->read(), y = open_source(b)->read();
  ASSERT_TRUE(x && y);
  ASSERT_EQ(x->format.planes(), y->format.planes());
  for (int i = 0; i < x->format.planes(); ++i) expect_near(*x, *y, i);
  ASSERT_EQ(alpha_of(*x) != nullptr, alpha_of(*y) != nullptr);
  if (alpha_of(*x)) expect_near(*alpha_of(*x), *alpha_of(*y), 0);
}

// Samples that need another depth or kind in the output are compared as lull reads them.
TEST_P(TiffKinds, AreWrittenAsTheyWere) {
  const PictureSpec& spec = GetParam();
  const auto source = open_source(in);
  const auto sink = open_sink(out, *source, {.strict_metadata = true});
  const std::vector<std::string> notes = sink->notes();
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  const bool keeps_depth = spec.bits >= 8 && spec.bits != 11 && spec.photometric != palette &&
                           !(spec.bits == 14 && spec.extra) && !(spec.bits == 9 && spec.extra);
  EXPECT_EQ(keeps_depth, notes.empty() || spec.codec == COMPRESSION_LERC);
  const TiffFile a(TIFFOpen(in.c_str(), "r")), b(TIFFOpen(out.c_str(), "r"));
  ASSERT_TRUE(a && b);
  EXPECT_EQ(TIFFIsBigEndian(b.get()), TIFFIsBigEndian(a.get()));
  EXPECT_EQ(TIFFIsBigTIFF(b.get()), TIFFIsBigTIFF(a.get()));
  EXPECT_EQ(TIFFIsTiled(b.get()), TIFFIsTiled(a.get()));
  expect_same_picture(in, out);
  if (!keeps_depth) return;
  for (const std::uint32_t tag :
       {TIFFTAG_BITSPERSAMPLE, TIFFTAG_SAMPLEFORMAT, TIFFTAG_SAMPLESPERPIXEL, TIFFTAG_PHOTOMETRIC,
        TIFFTAG_PLANARCONFIG})
    EXPECT_EQ(tag_of<std::uint16_t>(b.get(), tag), tag_of<std::uint16_t>(a.get(), tag)) << tag;
  if (spec.codec != COMPRESSION_LERC) {
    EXPECT_EQ(tag_of<std::uint16_t>(b.get(), TIFFTAG_COMPRESSION), spec.codec);
  }
  if (spec.bits == 32 && spec.form == SAMPLEFORMAT_UINT) return;  // frames hold 24 bits
  EXPECT_TRUE(chunks_of(a.get()) == chunks_of(b.get()));
}

// A sequence is read and written by the same code.
TEST_P(TiffKinds, FormSequences) {
  const PictureSpec& spec = GetParam();
  for (const char* name : {"s.01.tif", "s.02.tif"}) make_picture(folder / name, spec);
  EXPECT_EQ(transcode(in, out), 1);
  EXPECT_EQ(transcode(folder / "s.%02d.tif", folder / "t.%02d.tif"), 2);
  EXPECT_TRUE(read_file(folder / "t.02.tif") == read_file(out));
}

TEST_P(TiffKinds, AreRefusedIfCutShort) {
  const std::vector<std::uint8_t> whole = read_file(in);
  for (std::size_t bytes = 1; bytes < whole.size(); bytes += 1 + whole.size() / 23) {
    write_file(out, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
    EXPECT_THROW(count_frames(out), BadData) << bytes;
  }
}

}  // namespace
}  // namespace lull::io::test
