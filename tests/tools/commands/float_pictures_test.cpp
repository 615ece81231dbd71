// Tests the command on float pictures with values beyond white.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr FrameFormat format{
    .width = 160, .height = 120, .layout = Layout::rgb, .sample = SampleType::f32, .bits = 32};

Frame clean_frame(float scale) {
  const Frame frame = lull::test_support::make_frame(format);
  for (int i = 0; i < 3; ++i) {
    const Plane<float> plane = lull::test_support::texture_picture(format.width, format.height, i);
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x)
        frame.plane<float>(i)(x, y) = plane.view()(x, y) / 255 * scale;
  }
  return frame;
}

/// `sigma` is on the scale of 0 to 255 times `scale`.
Frame noisy_frame(float sigma, float scale) {
  const Frame frame = clean_frame(scale);
  for (int i = 0; i < 3; ++i) {
    Plane<float> flat(format.width, format.height);
    for (int y = 0; y < format.height; ++y) std::fill_n(flat.view().row(y), format.width, 0.0f);
    const Plane<float> noise =
        lull::test_support::with_noise(flat.view(), static_cast<double>(sigma), i + 1);
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x)
        frame.plane<float>(i)(x, y) += noise.view()(x, y) / 255 * scale;
  }
  return frame;
}

bool is_out_of_range(int x, int y) {
  const int dx = x - 70, dy = y - 50;
  return dx * dx + dy * dy <= 100 || (y == 90 && x > 99 && x < 104);
}

Frame with_out_of_range_samples(const Frame& frame) {
  const Frame changed = lull::test_support::make_frame(format);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (int i = 0; i < 3; ++i) {
    copy_plane(frame, i, changed);
    const PlaneView<float> plane = changed.plane<float>(i);
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x)
        if (is_out_of_range(x, y)) plane(x, y) = 8;
    plane(100, 90) = 500, plane(101, 90) = infinity, plane(102, 90) = -infinity;
    plane(103, 90) = std::bit_cast<float>(0x7fc54321u);
  }
  return changed;
}

void write_tiff(const std::string& path, const Frame& frame) {
  TIFF* t = TIFFOpen(path.c_str(), "w");
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, format.width);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, format.height);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 3);
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 32);
  TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
  TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  std::vector<float> row(3 * format.width);
  for (int y = 0; y < format.height; ++y) {
    for (int x = 0; x < format.width; ++x)
      for (int i = 0; i < 3; ++i) row[3 * x + i] = frame.plane<float>(i)(x, y);
    ASSERT_EQ(TIFFWriteScanline(t, row.data(), static_cast<std::uint32_t>(y)), 1);
  }
  TIFFClose(t);
}

/// Returns the root mean square error of the samples that are in range.
double error_of(const Frame& result, const Frame& clean) {
  double sum = 0, count = 0;
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x) {
        if (is_out_of_range(x, y)) continue;
        const double d = static_cast<double>(result.plane<float>(i)(x, y)) -
                         static_cast<double>(clean.plane<float>(i)(x, y));
        sum += d * d, ++count;
      }
  return std::sqrt(sum / count);
}

class FloatPictures : public ::testing::TestWithParam<const char*> {
 protected:
  /// Writes a picture of the tested format.
  std::string write(const std::string& name, const Frame& frame) {
    const std::string tiff = folder_ / (name + ".tif");
    write_tiff(tiff, frame);
    if (GetParam() == std::string("tif")) return tiff;
    const std::string path = folder_ / (name + "." + GetParam());
    convert(tiff, path, {.overwrite = true});
    return path;
  }
  Frame denoise(const std::string& in, const std::vector<std::string>& more) {
    const std::string out = folder_ / (std::string("out.") + GetParam());
    std::vector<std::string> arguments{"denoise", "-y", "-i", in, "-o", out, "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_lull(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    messages_ = outcome.err;
    return frames_of(out).at(0);
  }
  Folder folder_;
  std::string messages_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, FloatPictures, ::testing::Values("exr", "tif", "pfm"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(FloatPictures, HighlightsAndNonFiniteSamplesStayAndDoNotAffectOthers) {
  const Frame clean = clean_frame(1), noisy = noisy_frame(20, 1),
              changed = with_out_of_range_samples(noisy);
  const Frame expected = denoise(write("plain", noisy), {"--sigma", "20"});
  EXPECT_THAT(messages_, Not(HasSubstr("white")));
  const Frame result = denoise(write("bright", changed), {"--sigma", "20"});
  EXPECT_THAT(messages_,
              HasSubstr("2 % of the first picture is brighter than 1.5 and is not filtered; "
                        "--white 8 filters it"));
  const double error = error_of(result, clean), without = error_of(expected, clean);
  EXPECT_LT(without, error_of(noisy, clean) / 2);
  EXPECT_LT(20 * std::log10(error / without), 0.05);
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x)
        if (is_out_of_range(x, y)) {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(result.plane<float>(i)(x, y)),
                    std::bit_cast<std::uint32_t>(changed.plane<float>(i)(x, y)))
              << x << ", " << y;
        }
}

// Sigma is in units of the file's values for every white level.
TEST_P(FloatPictures, WhiteLevelIsChosenForBrightPictures) {
  const Frame noisy = noisy_frame(20, 20), clean = clean_frame(20);
  const std::string in = write("bright", noisy);
  const Frame result = denoise(in, {"--sigma", "400"});
  EXPECT_THAT(messages_,
              HasSubstr("most of the first picture is brighter than 1; 16 is taken as white"));
  EXPECT_LT(error_of(result, clean), error_of(noisy, clean) / 2);
  EXPECT_TRUE(
      lull::test_support::same_samples(denoise(in, {"--sigma", "400", "--white", "16"}), result));
  EXPECT_FALSE(
      lull::test_support::same_samples(denoise(in, {"--sigma", "400", "--white", "32"}), result));
  EXPECT_TRUE(lull::test_support::same_samples(
      denoise(in, {"--sigma", "1.568627451", "--sigma-scale", "native"}), result));
  // With a fixed white of 1, almost all samples are beyond the range.
  EXPECT_GT(error_of(denoise(in, {"--sigma", "20", "--white", "1"}), clean),
            error_of(noisy, clean) * 0.95);
}

TEST(WhiteLevel, AppliesToFloatPicturesOnly) {
  Folder folder;
  write_pnm(folder / "in.pgm", noisy_picture(clean_picture({.width = 32, .height = 24}), 20));
  const auto denoise = [&](const std::string& white) {
    return run_lull({"denoise", "-y", "-i", folder / "in.pgm", "-o", folder / "out.pgm", "--sigma",
                     "20", "--device", "cpu", "--white", white});
  };
  EXPECT_EQ(denoise("auto").code, 0);
  const Outcome other = denoise("4");
  EXPECT_EQ(other.code, 2);
  EXPECT_EQ(other.error_lines(), 1) << other.err;
  EXPECT_THAT(other.err, HasSubstr("only pictures of floats"));
  for (const char* bad : {"0", "-1", "nan", "inf", "bright", "1e30"})
    EXPECT_EQ(denoise(bad).code, 2) << bad;
}

// A resumed job uses the white level with which it began.
TEST(WhiteLevel, IsKeptWhenAJobIsResumed) {
  Folder folder;
  write_tiff(folder / "one.tif", noisy_frame(20, 1));
  for (const char* name : {"in.1.exr", "in.2.exr", "in.3.exr", "in.4.exr", "in.5.exr"})
    convert(folder / "one.tif", folder / name, {});
  const auto begin = [&](double white, bool resume) {
    const auto source = io::open_source(folder / "in.%d.exr", {.white = white});
    const auto sink =
        io::open_sink(folder / "out.mkv", *source,
                      {.vcodec = "ffv1",
                       .pix_fmt = "gbrp16le",
                       .segments = io::SegmentOptions{.frames = 2, .resume = resume, .facts = {}}});
    while (auto frame = source->read()) sink->write(*std::move(frame));
  };
  begin(0, false);  // not finished: its folder remains
  EXPECT_THROW(begin(2, true), InvalidArgument);
  EXPECT_NO_THROW(begin(1, true));  // the level that was chosen
}

}  // namespace
}  // namespace lull::tools
