// Results are as precise as the output: they are rounded once, to the output's bit depth.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "io/support/volumes.h"
#include "support/pictures.h"
#include "support/precise_results.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using test_support::for_samples;
using test_support::integer_at;
using ::testing::HasSubstr;

FrameFormat clip_format(Layout layout, int bits = 8) {
  const int shift = layout == Layout::yuv ? 1 : 0;
  return {.width = 96,
          .height = 64,
          .layout = layout,
          .sample = bits == 8 ? SampleType::u8 : SampleType::u16,
          .bits = bits,
          .chroma_shift_x = shift,
          .chroma_shift_y = shift};
}

/// Returns a slow gradient with noise, as frames of 8 bits.
std::vector<Frame> noisy_gradient(const FrameFormat& format, int count) {
  std::vector<Frame> frames;
  for (int n = 0; n < count; ++n) {
    Frame frame = lull::test_support::make_frame(format);
    for (int i = 0; i < format.planes(); ++i) {
      Plane<float> plane(format.plane_width(i), format.plane_height(i));
      for (int y = 0; y < plane.height(); ++y)
        for (int x = 0; x < plane.width(); ++x)
          plane.view()(x, y) = static_cast<float>(100 + 10.0 * x / plane.width());
      store_plane(lull::test_support::with_noise(plane.view(), 3, 10 * n + i).view(), frame, i);
    }
    frames.push_back(frame);
  }
  return frames;
}

/// Returns 8-bit samples with 16 bits, as FFmpeg converts them.
std::vector<Frame> with_16_bits(const std::vector<Frame>& frames, bool full_range) {
  return lull::test_support::converted(frames, {.bits = 16, .full_range = full_range});
}

/// PSNR over all planes of all frames, in dB.
double psnr_of(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  double sum = 0, count = 0;
  for_samples(a, [&](std::size_t n, int i, int x, int y) {
    const double difference = integer_at(a[n], i, x, y) - integer_at(b.at(n), i, x, y);
    sum += difference * difference;
    ++count;
  });
  return 10 * std::log10(std::pow(a.front().format.max_value(), 2) * count / std::max(sum, 1e-9));
}

/// Errors of the means of 8x8 samples of luma against a result of 16 bits, in levels of 8 bits.
double error_of_means(const Frame& rounded, const Frame& precise, double unit) {
  double squares = 0, blocks = 0;
  for (int top = 0; top + 8 <= rounded.format.height; top += 8)
    for (int left = 0; left + 8 <= rounded.format.width; left += 8, ++blocks) {
      double sum = 0;
      for (int y = top; y < top + 8; ++y)
        for (int x = left; x < left + 8; ++x)
          sum += integer_at(rounded, 0, x, y) - integer_at(precise, 0, x, y) / unit;
      squares += sum * sum / 4096;
    }
  return std::sqrt(squares / blocks);
}

class Precision : public ::testing::Test {
 protected:
  Outcome lull(const std::string& from, const std::string& to,
               std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"denoise", "-i", folder_ / from, "-o", folder_ / to, "-y",
                               "--device", "cpu", "--profile", "fast"});
    return run_lull(more);
  }
  /// Denoises and decodes the result.
  std::vector<Frame> result(const std::string& from, const std::string& to,
                            std::vector<std::string> more = {}) const {
    const std::vector<std::string> level{"--sigma", "3"};
    more.insert(more.begin(), level.begin(), level.end());
    const Outcome outcome = lull(from, to, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return frames_of(folder_ / to);
  }
  /// Writes a clip with 8 bits, in.y4m, and the same samples with 16 bits, wide.y4m.
  void write_clips(int frames = 4) const {
    const std::vector<Frame> clip = noisy_gradient(clip_format(Layout::yuv), frames);
    write_y4m(folder_ / "in.y4m", clip);
    write_y4m(folder_ / "wide.y4m", with_16_bits(clip, false));
  }
  Folder folder_;
};

TEST_F(Precision, VideoOf8BitsGivesTheResultOf16Bits) {
  write_clips();
  struct Output {
    const char* name;
    std::vector<std::string> options;
    double min_psnr;  // rounding to 8 bits gives 59 dB, and sigma differs by 0.4 %
  };
  const Output outputs[] = {{"out.mkv", {"--lossless", "--pix-fmt", "yuv420p10le"}, 63},
                            {"out.mkv", {"--lossless", "--bits", "10"}, 63},
                            {"out.mkv", {"--lossless", "--bits", "12"}, 63},
                            {"out.mkv", {"--lossless", "--bits", "16"}, 63},
                            {"out.mkv", {"--vcodec", "libx265", "--bits", "10", "--crf", "1"}, 62},
                            {"out.mkv", {"--vcodec", "libx264", "--bits", "10", "--crf", "1"}, 62},
                            {"out.mov", {"--vcodec", "prores_ks"}, 62},
                            {"out.y4m", {"--bits", "10"}, 63}};
  for (const Output& output : outputs)
    for (const char* temporal : {"0", "1"}) {
      std::vector<std::string> options = output.options;
      options.insert(options.end(), {"--temporal", temporal});
      const std::vector<Frame> narrow = result("in.y4m", output.name, options);
      const std::vector<Frame> wide = result("wide.y4m", output.name, options);
      ASSERT_EQ(narrow.size(), wide.size());
      ASSERT_EQ(narrow.front().format, wide.front().format);
      EXPECT_GT(narrow.front().format.bits, 8);
      EXPECT_GT(psnr_of(narrow, wide), output.min_psnr)
          << output.name << " " << output.options.back() << ", temporal " << temporal;
    }
}

TEST_F(Precision, PicturesOf8BitsGiveTheResultOf16Bits) {
  for (const Layout layout : {Layout::gray, Layout::rgb}) {
    const std::vector<Frame> noisy = noisy_gradient(clip_format(layout), 1);
    const char* extension = layout == Layout::gray ? ".pgm" : ".ppm";
    write_pnm(folder_ / (std::string("in") + extension), noisy[0]);
    write_pnm(folder_ / (std::string("wide") + extension), with_16_bits(noisy, true)[0]);
    for (const char* output : {"out.png", "out.tif"}) {
      const auto narrow = result(std::string("in") + extension, output, {"--bits", "16"});
      const auto wide = result(std::string("wide") + extension, output);
      ASSERT_EQ(narrow.front().format, wide.front().format);
      EXPECT_EQ(narrow.front().format.bits, 16);
      EXPECT_GT(psnr_of(narrow, wide), 90) << output;
    }
  }
}

TEST_F(Precision, UnfilteredSamplesOfFullRangeKeepWhite) {
  const FrameFormat format{.width = 256, .height = 16, .layout = Layout::rgb};
  Frame ramp = lull::test_support::make_frame(format);
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 256; ++x)
        ramp.plane<std::uint8_t>(i)(x, y) = static_cast<std::uint8_t>(x);
  write_pnm(folder_ / "ramp.ppm", ramp);
  for (const char* output : {"out.tif", "out.png"}) {
    ASSERT_EQ(lull("ramp.ppm", output, {"--sigma", "0", "--bits", "16"}).code, 0);
    const std::vector<Frame> out = frames_of(folder_ / output);
    for (int x = 0; x < 256; ++x) ASSERT_EQ(integer_at(out[0], 1, x, 5), 257 * x);
  }
}

TEST_F(Precision, UnfilteredSamplesOfLimitedRangeAreMultiplied) {
  write_clips(1);
  ASSERT_EQ(lull("in.y4m", "out.mkv", {"--sigma", "0", "--bits", "10", "--lossless"}).code, 0);
  const std::vector<Frame> in = frames_of(folder_ / "in.y4m"), out = frames_of(folder_ / "out.mkv");
  for_samples(in, [&](std::size_t n, int i, int x, int y) {
    ASSERT_EQ(integer_at(out[n], i, x, y), 4 * integer_at(in[n], i, x, y));
  });
}

TEST_F(Precision, EnlargedResultsAreRoundedOnce) {
  write_clips(1);
  const auto eight = result("in.y4m", "a.mkv", {"--lossless", "--scale", "1.5"});
  const auto sixteen = result("in.y4m", "b.mkv", {"--lossless", "--scale", "1.5", "--bits", "16"});
  EXPECT_EQ(sixteen.front().format.bits, 16);
  for_samples(eight, [&](std::size_t n, int i, int x, int y) {
    ASSERT_NEAR(integer_at(eight[n], i, x, y), integer_at(sixteen[n], i, x, y) / 256.0, 0.51);
  });
}

TEST_F(Precision, FieldsAreRoundedOnce) {
  write_clips(2);
  const std::vector<std::string> fields{"--lossless", "--interlaced", "fields"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), fields.begin(), fields.end());
    return more;
  };
  const auto eight = result("in.y4m", "a.mkv", fields);
  const auto sixteen = result("in.y4m", "b.mkv", with({"--bits", "16"}));
  const auto dithered = result("in.y4m", "c.mkv", with({"--dither", "ordered"}));
  for_samples(eight, [&](std::size_t n, int i, int x, int y) {
    const double precise = integer_at(sixteen[n], i, x, y) / 256.0;
    ASSERT_NEAR(integer_at(eight[n], i, x, y), precise, 0.51);
    ASSERT_NEAR(integer_at(dithered[n], i, x, y), precise, 1.01);
  });
  EXPECT_LT(error_of_means(dithered[0], sixteen[0], 256), 0.04);
}

TEST_F(Precision, VoxelsOutsideAMaskAreConvertedExactly) {
  constexpr int slices = 6;
  const std::vector<Frame> noisy = noisy_gradient(clip_format(Layout::gray), slices);
  std::vector<std::uint8_t> mask;
  for (int z = 0; z < slices; ++z) {
    write_pnm(folder_ / ("in" + std::to_string(z) + ".pgm"), noisy[z]);
    for (int i = 0; i < 96 * 64; ++i) mask.push_back(i % 96 < 40 ? 1 : 0);
  }
  const auto file = io::test::volume({.dim = {96, 64, slices}, .datatype = 2, .bitpix = 8}, mask);
  write_bytes(folder_ / "mask.nii", {file.begin(), file.end()});
  const Outcome outcome =
      lull("in%d.pgm", "out%d.png",
           {"--sigma", "3", "--stack", "--mask", folder_ / "mask.nii", "--bits", "16"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  int filtered = 0;
  for (int z = 0; z < slices; ++z) {
    const Frame out = frames_of(folder_ / ("out" + std::to_string(z) + ".png"))[0];
    for (int y = 0; y < 64; ++y)
      for (int x = 0; x < 96; ++x)
        if (x >= 40) {
          ASSERT_EQ(integer_at(out, 0, x, y), 257 * integer_at(noisy[z], 0, x, y));
        } else {
          filtered += integer_at(out, 0, x, y) % 257 != 0;
        }
  }
  EXPECT_GT(filtered, 1000);
}

TEST_F(Precision, DitheringKeepsMeansOf8x8Samples) {
  FrameFormat format = clip_format(Layout::gray);
  format.width = format.height = 512;
  Plane<float> gradient(512, 512);
  for (int y = 0; y < 512; ++y)
    for (int x = 0; x < 512; ++x) gradient.view()(x, y) = static_cast<float>(100 + 10.0 * x / 511);
  Frame noisy = lull::test_support::make_frame(format);
  store_plane(lull::test_support::with_noise(gradient.view(), 5).view(), noisy, 0);
  write_pnm(folder_ / "in.pgm", noisy);
  const auto denoised = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all{"--sigma", "5"};
    all.insert(all.end(), options.begin(), options.end());
    EXPECT_EQ(lull("in.pgm", "out.png", all).code, 0);
    return frames_of(folder_ / "out.png")[0];
  };
  const Frame precise = denoised({"--bits", "16"});
  EXPECT_GT(error_of_means(denoised({}), precise, 257), 0.1);
  for (const char* dither : {"ordered", "noise"}) {
    const Frame frame = denoised({"--dither", dither});
    EXPECT_LE(error_of_means(frame, precise, 257), 0.03) << dither;
    double squares = 0;
    for (int y = 0; y < 512; ++y)
      for (int x = 0; x < 512; ++x)
        squares += std::pow(integer_at(frame, 0, x, y) - integer_at(precise, 0, x, y) / 257.0, 2);
    EXPECT_LE(std::sqrt(squares / 512 / 512), 0.42) << dither;
  }
}

TEST_F(Precision, DitheringDoesNotDependOnThreadsOrSegments) {
  write_clips(9);
  for (const char* dither : {"ordered", "noise"}) {
    const std::vector<std::string> options{"--lossless", "--temporal", "1", "--dither", dither};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), options.begin(), options.end());
      return more;
    };
    const auto expected = result("in.y4m", "a.mkv", with({"--threads", "1"}));
    const auto threads = result("in.y4m", "b.mkv", with({"--threads", "3"}));
    const auto segments = result("in.y4m", "c.mkv", with({"--segment-frames", "4"}));
    ASSERT_EQ(expected.size(), 9u);
    ASSERT_EQ(segments.size(), 9u);
    for (std::size_t n = 0; n < 9; ++n) {
      EXPECT_TRUE(lull::test_support::same_samples(expected[n], threads[n]));
      EXPECT_TRUE(lull::test_support::same_samples(expected[n], segments[n]));
    }
  }
}

TEST_F(Precision, ConvertedPicturesAreDithered) {
  // The conversion from YCbCr to RGB happens with 16 bits, and the result is dithered.
  write_clips(1);
  const auto precise = result("in.y4m", "a.png", {"--pix-fmt", "rgb48be"});
  const auto plain = result("in.y4m", "b.png", {"--pix-fmt", "rgb24"});
  const auto dithered = result("in.y4m", "c.png", {"--pix-fmt", "rgb24", "--dither", "noise"});
  EXPECT_GT(error_of_means(plain[0], precise[0], 257), 0.03);
  EXPECT_LT(error_of_means(dithered[0], precise[0], 257), 0.025);
}

TEST_F(Precision, WhiteStaysWhiteInAnotherLayout) {
  Frame video = lull::test_support::make_frame(clip_format(Layout::yuv));
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < video.format.plane_height(i); ++y)
      std::fill_n(video.plane<std::uint8_t>(i).row(y), video.format.plane_width(i),
                  static_cast<std::uint8_t>(i == 0 ? 235 : 128));
  write_y4m(folder_ / "white.y4m", {video});
  Frame picture = lull::test_support::make_frame(clip_format(Layout::rgb), 0, 255);
  write_pnm(folder_ / "white.ppm", picture);
  struct Case {
    const char *input, *output, *pix_fmt;
    int luma;
  };
  for (const Case& one :
       {Case{"white.y4m", "out.png", "rgb48be", 65535}, Case{"white.y4m", "out.png", "rgb24", 255},
        Case{"white.y4m", "out.mkv", "yuv444p10le", 940},
        Case{"white.ppm", "out.mkv", "yuv444p", 235},
        Case{"white.ppm", "out.mkv", "yuv444p10le", 940},
        Case{"white.ppm", "out.mkv", "yuv420p16le", 60160}}) {
    std::vector<std::string> options{"--sigma", "0", "--pix-fmt", one.pix_fmt};
    if (std::string(one.output) == "out.mkv") options.insert(options.end(), {"--vcodec", "ffv1"});
    const Outcome outcome = lull(one.input, one.output, options);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Frame out = frames_of(folder_ / one.output)[0];
    EXPECT_NEAR(integer_at(out, 0, 20, 20), one.luma, one.luma > 1023 ? 10 : 0) << one.pix_fmt;
  }
}

TEST_F(Precision, BitsSelectTheNearestFormatOfAnotherLayout) {
  write_clips(1);
  const auto wide = result("in.y4m", "out.png", {"--bits", "16"});
  EXPECT_EQ(wide[0].format.layout, Layout::rgb);
  EXPECT_EQ(wide[0].format.bits, 16);
  const auto movie = result("in.y4m", "out.mov", {"--vcodec", "prores_ks", "--bits", "10"});
  EXPECT_EQ(movie[0].format.chroma_shift_y, 0);
}

TEST_F(Precision, ReportAndGrainAcceptResultsOfAnotherDepth) {
  write_clips(2);
  EXPECT_EQ(result("in.y4m", "out.mkv",
                   {"--bits", "10", "--lossless", "--report", folder_ / "report.html",
                    "--grain-table", folder_ / "grain.tbl"})
                .size(),
            2u);
  EXPECT_THAT(bytes_of(folder_ / "grain.tbl"), HasSubstr("filmgrn1"));
}

TEST_F(Precision, UnsupportedDepthsAreAnErrorInOneLine) {
  write_clips(1);
  struct Case {
    std::vector<std::string> options;
    std::string output, text;
  };
  const Case cases[] = {
      {{"--bits", "12", "--vcodec", "libx264"}, "out.mkv", "libx264 cannot hold yuv420p12le"},
      {{"--bits", "11"}, "out.mkv", "--bits 11"},
      {{"--bits", "7"}, "out.mkv", "must be from 8 to 16"},
      {{"--bits", "10"}, "out%d.png", "png cannot hold yuv420p10le"},
      {{"--dither", "some"}, "out.mkv", "--dither"}};
  for (const Case& one : cases) {
    std::vector<std::string> options = one.options;
    options.insert(options.end(), {"--sigma", "3"});
    const Outcome outcome = lull("in.y4m", one.output, options);
    EXPECT_EQ(outcome.code, 2) << one.text;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(one.text));
  }
}

}  // namespace
}  // namespace lull::tools
