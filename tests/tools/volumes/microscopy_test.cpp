// Tests lull denoise on stacks with channels and with photon noise.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int width = 48, height = 40, slices = 16;
constexpr std::size_t page_samples = width * height;

/// Returns the photons of a smooth volume, from 2 to 102.
double photons_at(std::size_t i) {
  const auto x = static_cast<double>(i % width), y = static_cast<double>(i / width % height);
  const double wave = std::sin(0.06 * x) * std::cos(0.05 * y);
  return 2 + 100 * wave * wave;
}

std::vector<std::uint16_t> photon_stack(double gain, double offset) {
  std::mt19937 rng{3};
  std::vector<std::uint16_t> samples;
  for (std::size_t i = 0; i < page_samples * slices; ++i)
    samples.push_back(static_cast<std::uint16_t>(
        gain * std::poisson_distribution<int>(photons_at(i))(rng) + offset));
  return samples;
}

/// Returns a smooth volume with Gaussian noise of the level 30. `step` is added to its right half.
std::vector<std::uint16_t> gaussian_stack(double step) {
  std::mt19937 rng{4};
  std::normal_distribution<double> noise(0, 30);
  std::vector<std::uint16_t> samples;
  for (std::size_t i = 0; i < page_samples * slices; ++i)
    samples.push_back(static_cast<std::uint16_t>(300.5 + 2 * photons_at(i) +
                                                 (i % width < width / 2 ? 0 : step) + noise(rng)));
  return samples;
}

void write_pages(const std::string& path, const std::vector<std::uint16_t>& samples,
                 const std::string& description) {
  TIFF* file = TIFFOpen(path.c_str(), "w");
  for (std::size_t at = 0; at < samples.size(); at += page_samples) {
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    if (at == 0 && !description.empty())
      TIFFSetField(file, TIFFTAG_IMAGEDESCRIPTION, description.c_str());
    std::vector<std::uint16_t> page(
        samples.begin() + static_cast<std::ptrdiff_t>(at),
        samples.begin() + static_cast<std::ptrdiff_t>(at + page_samples));
    TIFFWriteEncodedStrip(file, 0, page.data(), static_cast<tmsize_t>(page_samples * 2));
    TIFFWriteDirectory(file);
  }
  TIFFClose(file);
}

std::vector<std::uint16_t> read_pages(const std::string& path) {
  std::vector<std::uint16_t> samples;
  TIFF* file = TIFFOpen(path.c_str(), "r");
  if (!file) return samples;
  do {
    std::vector<std::uint16_t> page(page_samples);
    TIFFReadEncodedStrip(file, 0, page.data(), static_cast<tmsize_t>(page_samples * 2));
    samples.insert(samples.end(), page.begin(), page.end());
  } while (TIFFReadDirectory(file));
  TIFFClose(file);
  return samples;
}

class Microscopy : public testing::Test {
 protected:
  Outcome denoise(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{folder / "in.tif", folder / "out.tif", "-y", "--device",
                                       "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Program(arguments).wait();
  }
  double photon_error(double gain, double offset) const {
    const std::vector<std::uint16_t> result = read_pages(folder / "out.tif");
    double sum = 0;
    for (std::size_t i = 0; i < result.size(); ++i)
      sum += std::pow(result[i] - offset - gain * photons_at(i), 2);
    return std::sqrt(sum / static_cast<double>(result.size()));
  }
  Folder folder;
};

TEST_F(Microscopy, PhotonNoiseIsRecognisedAndBetterThanOneLevel) {
  write_pages(folder / "in.tif", photon_stack(40, 100), "");
  const Outcome automatic = denoise();
  ASSERT_EQ(automatic.code, 0) << automatic.err;
  EXPECT_THAT(automatic.err, HasSubstr("photon noise, gain "));
  const double estimated = photon_error(40, 100);
  ASSERT_EQ(denoise({"--noise", "poisson:40:100:0"}).code, 0);
  const double given = photon_error(40, 100);
  const Outcome gaussian = denoise({"--noise", "gaussian"});
  EXPECT_THAT(gaussian.err, Not(HasSubstr("photon noise")));
  EXPECT_LT(estimated, 1.035 * given);  // 0.3 dB
  EXPECT_LT(estimated, 0.8 * photon_error(40, 100));
}

/// A single page with photon noise.
class MicroscopyPage : public testing::Test {
 protected:
  static constexpr int side = 160;
  /// Returns the photons of a smooth picture, from 5 to 305.
  static double photons(int x, int y) {
    const double wave = std::sin(0.045 * x) * std::cos(0.03 * y);
    return 5 + 300 * wave * wave;
  }
  /// Writes a page with photon noise of a 12-bit camera: gain 8, offset 100, read noise 6.
  void write_page(const std::string& path) const {
    std::mt19937 rng{11};
    std::normal_distribution<double> normal;
    std::vector<std::uint16_t> page;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        page.push_back(static_cast<std::uint16_t>(std::lround(
            8 * std::poisson_distribution<int>(photons(x, y))(rng) + 100 + 6 * normal(rng))));
    TIFF* file = TIFFOpen(path.c_str(), "w");
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, side);
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, side);
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, side);
    TIFFWriteEncodedStrip(file, 0, page.data(), static_cast<tmsize_t>(page.size() * 2));
    TIFFClose(file);
  }
  /// Returns the root mean square error of a page.
  double error_of(const std::string& path) const {
    std::vector<std::uint16_t> page(side * side);
    TIFF* file = TIFFOpen(path.c_str(), "r");
    if (!file) return 1e9;
    for (int y = 0; y < side; ++y)
      if (TIFFReadScanline(file, &page[y * side], static_cast<std::uint32_t>(y)) != 1) return 1e9;
    TIFFClose(file);
    double sum = 0;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        sum += std::pow(page[y * side + x] - 100 - 8 * photons(x, y), 2);
    return std::sqrt(sum / side / side);
  }
  Outcome denoise(const std::string& output) const {
    return Program({folder / "in.tif", folder / output, "-y", "--device", "cpu"}).wait();
  }
  Folder folder;
};

TEST_F(MicroscopyPage, PageOf12BitSamplesIsFilteredByItsPhotonNoise) {
  write_page(folder / "in.tif");
  const Outcome outcome = denoise("out.tif");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("photon noise, gain "));
  EXPECT_LT(error_of(folder / "out.tif"), 0.35 * error_of(folder / "in.tif"));
}

TEST_F(MicroscopyPage, PageOf12BitSamplesBecomesPng) {
  write_page(folder / "in.tif");
  const Outcome outcome = denoise("out.png");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(Microscopy, ChannelsHaveTheirOwnNoiseAndOrder) {
  const std::vector<std::uint16_t> bright = photon_stack(40, 100), dim = photon_stack(2, 10);
  std::vector<std::uint16_t> both;
  for (int z = 0; z < slices; ++z)
    for (const auto* channel : {&bright, &dim})
      both.insert(both.end(), channel->begin() + z * static_cast<int>(page_samples),
                  channel->begin() + (z + 1) * static_cast<int>(page_samples));
  std::vector<std::vector<std::uint16_t>> alone;
  for (const auto& channel : {bright, dim}) {
    write_pages(folder / "in.tif", channel, "");
    ASSERT_EQ(denoise().code, 0);
    alone.push_back(read_pages(folder / "out.tif"));
    ASSERT_EQ(alone.back().size(), channel.size());
  }
  write_pages(folder / "in.tif", both, "ImageJ=1.53\nimages=32\nchannels=2\nslices=16\n");
  const Outcome outcome = denoise();
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("2 channels, 16 slices, 1 time point"));
  EXPECT_THAT(outcome.err, HasSubstr("noise: channel 2: photon noise"));
  const std::vector<std::uint16_t> result = read_pages(folder / "out.tif");
  ASSERT_EQ(result.size(), both.size());
  // Even pages are those of the first channel. Each channel equals a file with this channel only.
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t page = i / page_samples;
    ASSERT_EQ(result[i], alone[page % 2][page / 2 * page_samples + i % page_samples]) << i;
  }
}

TEST_F(Microscopy, NoiseFileFitsAStackWithAnotherRangeOfValues) {
  write_pages(folder / "in.tif", gaussian_stack(0), "");
  ASSERT_EQ(run_lull({"noise", folder / "in.tif", "-o", folder / "noise.json"}).code, 0);
  write_pages(folder / "in.tif", gaussian_stack(3000), "");
  const Outcome outcome = denoise({"--noise", folder / "noise.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::smatch found;
  ASSERT_TRUE(std::regex_search(outcome.err, found,
                                std::regex("Gaussian, ([0-9.]+) \\(the file's units\\)")))
      << outcome.err;
  EXPECT_NEAR(std::stod(found[1].str()), 30, 5);
}

TEST_F(Microscopy, NoiseFileWithTimePointsGivesEachChannelItsOwnNoise) {
  write_pages(folder / "in.tif", gaussian_stack(0), "");
  ASSERT_EQ(run_lull({"noise", folder / "in.tif", "-o", folder / "noise.json"}).code, 0);
  auto record = nlohmann::json::parse(bytes_of(folder / "noise.json"));
  const auto scene = record["scenes"][0];
  record["scenes"] = nlohmann::json::array();
  for (const int channel : {1, 2})
    for (const int time : {1, 2}) {
      auto next = scene;
      next["name"] = "channel " + std::to_string(channel) + ", time point " + std::to_string(time);
      next["unit"] = channel * scene["unit"].get<double>();
      record["scenes"].push_back(next);
    }
  write_bytes(folder / "noise.json", record.dump());
  const std::vector<std::uint16_t> one = gaussian_stack(0);
  std::vector<std::uint16_t> both = one;
  both.insert(both.end(), one.begin(), one.end());
  write_pages(folder / "in.tif", both, "ImageJ=1.53\nimages=32\nchannels=2\nslices=16\n");
  const Outcome outcome = denoise({"--noise", folder / "noise.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::array<double, 2> levels{};
  for (const int i : {0, 1}) {
    std::smatch found;
    ASSERT_TRUE(std::regex_search(
        outcome.err, found,
        std::regex("channel " + std::to_string(i + 1) + ": [^\n]*Gaussian, ([0-9.]+) ")))
        << outcome.err;
    levels[i] = std::stod(found[1].str());
  }
  EXPECT_NEAR(levels[1], 2 * levels[0], 0.02 * levels[1]);
}

TEST_F(Microscopy, ContradictoryOmeXmlIsOneLineAndNoOutput) {
  write_pages(folder / "in.tif", photon_stack(40, 100),
              "<OME><Image><Pixels DimensionOrder=\"XYZCT\" SizeC=\"3\" SizeZ=\"16\" SizeT=\"1\">"
              "<TiffData/></Pixels></Image></OME>");
  const Outcome outcome = denoise();
  EXPECT_EQ(outcome.code, 65);
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("OME-XML"));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"in.tif"});
}

TEST_F(Microscopy, InvalidParametersOfPhotonNoiseAreRejected) {
  write_pages(folder / "in.tif", photon_stack(40, 100), "");
  for (const char* noise : {"poisson:0:0:0", "poisson:x", "poisson:1:2:-3", "poisson:1:2:3:4"}) {
    EXPECT_EQ(denoise({"--noise", noise}).code, 2) << noise;
  }
  EXPECT_EQ(denoise({"--noise", "poisson", "--sigma", "3"}).code, 2);
}

}  // namespace
}  // namespace lull::tools
