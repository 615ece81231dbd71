// Tests the command on depth maps.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

constexpr int width = 120, height = 80;
constexpr float nothing = std::numeric_limits<float>::quiet_NaN();

bool is_hole(int x, int y) {
  return (x - 40) * (x - 40) + (y - 30) * (y - 30) < 50 || (x % 17 == 3 && y % 13 == 4);
}

/// Returns the depth of a scene in metres. The scene is a slanted wall with a box in front of it.
double depth_at(int x, int y) {
  const bool box = x > 55 && x < 95 && y > 20 && y < 60;
  return box ? 1.5 + 0.004 * y : 3 + 0.01 * x;
}

using Map = std::vector<float>;

/// `growth` is the power of the depth with which the noise grows.
Map noisy_map(double sigma, int growth = 0, float hole = nothing, double unit = 1) {
  std::mt19937 rng{7};
  std::normal_distribution<double> normal;
  Map map;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double z = depth_at(x, y), noise = sigma * std::pow(z, growth) * normal(rng);
      map.push_back(is_hole(x, y) ? hole : static_cast<float>(unit * (z + noise)));
    }
  return map;
}

void write_tiff(const std::string& path, const Map& map, int samples = 1) {
  TIFF* const t = TIFFOpen(path.c_str(), "w");
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, width / samples);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, samples);
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 32);
  TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
  TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, samples == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  Map row(width);
  for (unsigned y = 0; y < height; ++y) {
    std::copy_n(&map[std::size_t{width} * y], width, row.begin());
    TIFFWriteScanline(t, row.data(), y, 0);
  }
  TIFFClose(t);
}

void write_pfm(const std::string& path, const Map& map) {
  std::string bytes = "Pf\n" + std::to_string(width) + " " + std::to_string(height) + "\n-1.0\n";
  for (int y = height; y-- > 0;)
    bytes.append(reinterpret_cast<const char*>(&map[std::size_t{width} * y]), 4 * width);
  write_bytes(path, bytes);
}

Map read_tiff(const std::string& path) {
  Map map(std::size_t{width} * height);
  TIFF* const t = TIFFOpen(path.c_str(), "r");
  if (t == nullptr) return map;
  for (unsigned y = 0; y < height; ++y) (void)TIFFReadScanline(t, &map[std::size_t{width} * y], y);
  TIFFClose(t);
  return map;
}

/// Reads a PFM file, which stores the last row of a map first.
Map read_pfm(const std::string& path) {
  const std::string bytes = bytes_of(path);
  Map map(std::size_t{width} * height);
  const std::size_t row = 4 * std::size_t{width};
  if (bytes.size() < row * height) return map;
  for (std::size_t y = 0; y < height; ++y)
    std::memcpy(&map[width * y], &bytes[bytes.size() - row * (y + 1)], row);
  return map;
}

/// Returns the root mean square error over the samples that are not holes.
double error_of(const Map& map, double unit = 1) {
  double sum = 0, count = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (is_hole(x, y)) continue;
      const double v = static_cast<double>(map[std::size_t{width} * y + x]);
      sum += std::pow(v / unit - depth_at(x, y), 2), ++count;
    }
  return std::sqrt(sum / count);
}

Outcome denoise(const std::string& in, const std::string& out,
                const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"denoise", in, out, "--device", "cpu", "--threads", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_lull(arguments);
}

TEST(DepthMaps, LoseNoiseAndKeepHoles) {
  const Folder folder;
  write_tiff(folder / "in.tif", noisy_map(0.02));
  for (const std::string method : {"bm3d", "nlm"}) {
    const Outcome outcome = denoise(folder / "in.tif", folder / (method + ".tif"),
                                    {"--depth", "--sigma", "0.02", "--method", method});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("% holes"));
    const Map in = noisy_map(0.02), out = read_tiff(folder / (method + ".tif"));
    EXPECT_LT(error_of(out), 0.3 * 0.02) << method;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (std::isnan(in[i]))
        EXPECT_TRUE(std::isnan(out[i])) << i;
      else
        EXPECT_FALSE(std::isnan(out[i])) << i;
  }
}

TEST(DepthMaps, KeepTheirOrientation) {
  const Folder folder;
  write_pfm(folder / "in.pfm", noisy_map(0.02));
  const std::vector<std::string> options{"--depth", "--sigma", "0.02", "--profile", "fast"};
  ASSERT_EQ(denoise(folder / "in.pfm", folder / "out.tif", options).code, 0);
  ASSERT_EQ(denoise(folder / "in.pfm", folder / "out.pfm", options).code, 0);
  EXPECT_LT(error_of(read_pfm(folder / "out.pfm")), 0.4 * 0.02);
  const Map a = read_pfm(folder / "out.pfm"), b = read_tiff(folder / "out.tif");
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

TEST(DepthMaps, DoNotDependOnTheirUnit) {
  const Folder folder;
  write_tiff(folder / "m.tif", noisy_map(0.02, 0, -1));
  write_tiff(folder / "mm.tif", noisy_map(0.02, 0, -1, 1000));
  const std::vector<std::string> invalid{"--invalid", "-1", "--sigma"};
  for (const auto& [name, sigma] : {std::pair{"m", "0.02"}, std::pair{"mm", "20"}}) {
    std::vector<std::string> options = invalid;
    options.emplace_back(sigma);
    const std::string base = folder / name;
    ASSERT_EQ(denoise(base + ".tif", base + "_out.tif", options).code, 0);
  }
  const Map m = read_tiff(folder / "m_out.tif"), mm = read_tiff(folder / "mm_out.tif");
  EXPECT_NEAR(error_of(m), error_of(mm, 1000), 1e-4);
  for (std::size_t i = 0; i < m.size(); ++i)
    if (is_hole(static_cast<int>(i) % width, static_cast<int>(i) / width)) {
      EXPECT_EQ(m[i], -1);
      EXPECT_EQ(mm[i], -1);
    }
}

TEST(DepthMaps, SupportNoiseThatGrowsWithTheSquare) {
  const Folder folder;
  write_tiff(folder / "in.tif", noisy_map(0.005, 2));
  for (const std::string model : {"constant", "depth2:1"})
    ASSERT_EQ(denoise(folder / "in.tif", folder / (model.substr(0, 5) + ".tif"),
                      {"--sigma", "0.005", "--sigma-model", model})
                  .code,
              0);
  EXPECT_LT(error_of(read_tiff(folder / "depth.tif")), 0.3 * error_of(noisy_map(0.005, 2)));
  EXPECT_LT(error_of(read_tiff(folder / "depth.tif")),
            0.8 * error_of(read_tiff(folder / "const.tif")));
}

TEST(DepthMaps, NoiseIsEstimatedNextToHoles) {
  const Folder folder;
  write_tiff(folder / "in.tif", noisy_map(0.02));
  const Outcome outcome = denoise(folder / "in.tif", folder / "out.tif", {"--depth"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("noise: estimated, sigma 0.0"));
  EXPECT_LT(error_of(read_tiff(folder / "out.tif")), 0.5 * 0.02);
}

/// Writes a PGM file of 16 bits in millimetres; holes are 0.
void write_pgm(const std::string& path, const Map& map) {
  std::string bytes = "P5\n" + std::to_string(width) + " " + std::to_string(height) + "\n65535\n";
  for (const float v : map) {
    const auto sample = static_cast<std::uint16_t>(v + 0.5f);
    bytes += static_cast<char>(sample >> 8);
    bytes += static_cast<char>(sample & 255);
  }
  write_bytes(path, bytes);
}

TEST(DepthMaps, SixteenBitMapsAreSupported) {
  const Folder folder;
  write_pgm(folder / "in.pgm", noisy_map(0.02, 0, 0, 1000));
  const Outcome outcome =
      denoise(folder / "in.pgm", folder / "out.pgm", {"--invalid", "0", "--sigma", "20"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string bytes = bytes_of(folder / "out.pgm");
  Map out;
  for (std::size_t i = bytes.size() - 2 * width * height; i < bytes.size(); i += 2)
    out.push_back(static_cast<float>(static_cast<unsigned char>(bytes[i]) * 256 +
                                     static_cast<unsigned char>(bytes[i + 1])));
  EXPECT_LT(error_of(out, 1000), 0.3 * 0.02);
  for (std::size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i] == 0, is_hole(static_cast<int>(i) % width, static_cast<int>(i) / width)) << i;
  for (const std::string wrong : {"nan", "0.5", "-1", "70000"}) {
    const Outcome refused = denoise(folder / "in.pgm", folder / "no.pgm", {"--invalid", wrong});
    EXPECT_EQ(refused.code, 2) << wrong << refused.err;
    EXPECT_EQ(refused.error_lines(), 1) << refused.err;
  }
  EXPECT_THAT(folder.names(), testing::UnorderedElementsAre("in.pgm", "out.pgm"));
}

/// Returns the preview picture of an input.
Frame preview_of(const std::string& in, const std::vector<std::string>& more) {
  const Folder folder;
  std::vector<std::string> arguments{"preview", in, "-o", folder / "p.png", "--device", "cpu"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_lull(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("holes black"));
  Frame picture = frames_of(folder / "p.png").at(0);
  EXPECT_EQ(picture.format.width, 3 * width + 8);
  return picture;
}

/// The displayed levels of a map: values between the lowest and the highest thousandth map to
/// 32..255, holes to 0.
void expect_displayed(const Frame& picture, int panel, const Map& map, const Map& range) {
  Map depths;
  for (int i = 0; i < width * height; ++i)
    if (!is_hole(i % width, i / width)) depths.push_back(range[i]);
  std::ranges::sort(depths);
  const std::size_t beyond = depths.size() / 1000;
  const float low = depths[beyond], high = depths[depths.size() - 1 - beyond];
  double most = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const float share = (map[std::size_t{width} * y + x] - low) / (high - low);
      const float grey = is_hole(x, y) ? 0 : 32 + 223 * std::clamp(share, 0.0f, 1.0f);
      const auto byte = picture.plane<std::uint8_t>(1)(panel * (width + 4) + x, y);
      most = std::max(most, static_cast<double>(std::abs(static_cast<float>(byte) - grey)));
    }
  EXPECT_LE(most, 2) << panel;
}

TEST(DepthMaps, PreviewsStretchDepthsAndShowHoles) {
  const Folder folder;
  Map in = noisy_map(0.02);
  in[5] = 1e6f;  // an outlier
  write_tiff(folder / "in.tif", in);
  write_pfm(folder / "in.pfm", in);
  const std::vector<std::string> options{"--depth", "--sigma", "0.02", "--profile", "fast"};
  ASSERT_EQ(denoise(folder / "in.tif", folder / "out.tif", options).code, 0);
  for (const std::string name : {"in.tif", "in.pfm"}) {
    const Frame picture = preview_of(folder / name, options);
    expect_displayed(picture, 0, in, in);
    expect_displayed(picture, 1, read_tiff(folder / "out.tif"), in);
    EXPECT_EQ(picture.plane<std::uint8_t>(0)(2 * (width + 4) + 40, 30), 128);  // in a hole
  }
  // The unit and the marker of holes must not affect the picture.
  const std::vector<std::string> invalid{"--invalid", "0",    "--sigma",       "20",
                                         "--profile", "fast", "--sigma-model", "depth2:3000"};
  const Map of_integers = noisy_map(0.02, 0, 0, 1000);
  write_pgm(folder / "in.pgm", of_integers);
  expect_displayed(preview_of(folder / "in.pgm", invalid), 0, of_integers, of_integers);
}

TEST(DepthMaps, PreviewsEqualTheFilteredSequence) {
  const Folder folder;
  for (int n = 0; n < 4; ++n)
    write_pfm(folder / ("in." + std::to_string(n) + ".pfm"), noisy_map(0.02 + 0.002 * n));
  const std::vector<std::string> options{"--depth", "--sigma",    "0.02", "--profile",
                                         "fast",    "--temporal", "1"};
  ASSERT_EQ(denoise(folder / "in.%d.pfm", folder / "out.%d.pfm", options).code, 0);
  std::vector<std::string> at = options;
  at.insert(at.end(), {"--at", "0.08"});
  const Frame picture = preview_of(folder / "in.%d.pfm", at);
  expect_displayed(picture, 0, read_pfm(folder / "in.2.pfm"), read_pfm(folder / "in.2.pfm"));
  expect_displayed(picture, 1, read_pfm(folder / "out.2.pfm"), read_pfm(folder / "in.2.pfm"));
}

TEST(DepthMaps, InvalidMapsAreRejectedInOneLine) {
  const Folder folder;
  write_tiff(folder / "in.tif", noisy_map(0.02));
  write_tiff(folder / "empty.tif", Map(std::size_t{width} * height, nothing));
  write_tiff(folder / "colour.tif", noisy_map(0.02, 0, 0), 3);
  const auto refused = [&](const std::string& in, const std::vector<std::string>& options) {
    const Outcome outcome = denoise(folder / in, folder / "out.tif", options);
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    return outcome.code;
  };
  EXPECT_EQ(refused("in.tif", {"--invalid", "none"}), 2);
  EXPECT_EQ(refused("in.tif", {"--invalid", "inf"}), 2);
  EXPECT_EQ(refused("in.tif", {"--sigma-model", "depth3"}), 2);
  EXPECT_EQ(refused("in.tif", {"--sigma-model", "depth2:0"}), 2);
  EXPECT_EQ(refused("in.tif", {"--depth", "--method", "bm4d"}), 2);
  EXPECT_EQ(refused("in.tif", {"--depth", "--interlaced", "fields"}), 2);
  EXPECT_EQ(refused("empty.tif", {"--depth"}), 65);
  EXPECT_EQ(refused("colour.tif", {"--depth"}), 2);
  EXPECT_THAT(folder.names(), testing::UnorderedElementsAre("in.tif", "empty.tif", "colour.tif"));
}

}  // namespace
}  // namespace lull::tools
