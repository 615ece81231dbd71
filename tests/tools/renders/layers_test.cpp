// Tests the forms of OpenEXR files: deep pixels, several parts, features in any part. Also tests
// how often and with how many threads the files are read.

#include "io/layers.h"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfDeepFrameBuffer.h>
#include <OpenEXR/ImfDeepScanLineInputPart.h>
#include <OpenEXR/ImfDeepScanLineOutputPart.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfMultiPartInputFile.h>
#include <OpenEXR/ImfMultiPartOutputFile.h>
#include <OpenEXR/ImfOutputPart.h>
#include <OpenEXR/ImfPartType.h>
#include <OpenEXR/ImfRgbaFile.h>
#include <OpenEXR/ImfThreading.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "io/media.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr int width = 48, height = 32;

struct Part {
  std::string name;
  std::map<std::string, std::vector<float>> channels{};
  bool deep = false;  // every pixel has two samples in each channel
};

Imf::Header header_of(const Part& part) {
  Imf::Header header(width, height);
  header.setName(part.name);
  header.setType(part.deep ? Imf::DEEPSCANLINE : Imf::SCANLINEIMAGE);
  header.compression() = Imf::ZIPS_COMPRESSION;  // deep parts support no stronger compression
  for (const auto& [name, samples] : part.channels)
    header.channels().insert(name, Imf::Channel(Imf::FLOAT));
  return header;
}

void write_flat(Imf::MultiPartOutputFile& file, int at, Part& part) {
  Imf::FrameBuffer buffer;
  for (auto& [name, samples] : part.channels)
    buffer.insert(name,
                  Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(samples.data()), 4, 4 * width));
  Imf::OutputPart to(file, at);
  to.setFrameBuffer(buffer);
  to.writePixels(height);
}

void write_deep(Imf::MultiPartOutputFile& file, int at, const Part& part) {
  std::vector<unsigned> counts(width * height, 2);
  std::map<std::string, std::vector<float>> twice;
  std::map<std::string, std::vector<float*>> pointers;
  Imf::DeepFrameBuffer buffer;
  buffer.insertSampleCountSlice(
      Imf::Slice(Imf::UINT, reinterpret_cast<char*>(counts.data()), 4, 4 * width));
  for (const auto& [name, samples] : part.channels) {
    for (const float v : samples) twice[name].insert(twice[name].end(), {v, 2 * v});
    for (int i = 0; i < width * height; ++i) pointers[name].push_back(&twice[name][2 * i]);
    buffer.insert(name, Imf::DeepSlice(Imf::FLOAT, reinterpret_cast<char*>(pointers[name].data()),
                                       sizeof(float*), sizeof(float*) * width, sizeof(float)));
  }
  Imf::DeepScanLineOutputPart to(file, at);
  to.setFrameBuffer(buffer);
  to.writePixels(height);
}

void write(const std::string& path, std::vector<Part> parts) {
  std::vector<Imf::Header> headers;
  for (const Part& part : parts) headers.push_back(header_of(part));
  Imf::MultiPartOutputFile file(path.c_str(), headers.data(), static_cast<int>(headers.size()));
  for (int i = 0; i < std::ssize(parts); ++i) {
    Part& part = parts[static_cast<std::size_t>(i)];
    part.deep ? write_deep(file, i, part) : write_flat(file, i, part);
  }
}

/// Returns the sums of a deep part's samples for each pixel.
std::vector<float> sums_of(const std::string& path, int at, const std::string& channel) {
  Imf::MultiPartInputFile file(path.c_str());
  Imf::DeepScanLineInputPart part(file, at);
  std::vector<unsigned> counts(width * height);
  std::vector<std::vector<float>> samples(width * height);
  std::vector<float*> pointers(width * height);
  Imf::DeepFrameBuffer buffer;
  buffer.insertSampleCountSlice(
      Imf::Slice(Imf::UINT, reinterpret_cast<char*>(counts.data()), 4, 4 * width));
  buffer.insert(channel, Imf::DeepSlice(Imf::FLOAT, reinterpret_cast<char*>(pointers.data()),
                                        sizeof(float*), sizeof(float*) * width, sizeof(float)));
  part.setFrameBuffer(buffer);
  part.readPixelSampleCounts(0, height - 1);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].resize(counts[i]);
    pointers[i] = samples[i].data();
  }
  part.readPixels(0, height - 1);
  std::vector<float> sums;
  for (const std::vector<float>& pixel : samples)
    sums.push_back(std::accumulate(pixel.begin(), pixel.end(), 0.0f));
  return sums;
}

/// R, G and B of a noisy picture, its albedo and its variance, with these prefixes before their
/// names.
std::map<std::string, std::vector<float>> scene(const std::string& picture,
                                                const std::string& albedo,
                                                const std::string& variance) {
  std::map<std::string, std::vector<float>> channels;
  std::mt19937 random(1);
  std::normal_distribution<float> gauss;
  for (const char c : {'R', 'G', 'B'})
    for (int i = 0; i < width * height; ++i) {
      const float a = (i % width / 4 + i / width / 4) % 2 == 0 ? 0.9f : 0.3f, s = 0.3f * a;
      channels[picture + c].push_back(a + s * gauss(random));
      channels[albedo + c].push_back(a);
      channels[variance + c].push_back(s * s);
    }
  return channels;
}

/// Returns the channels whose names begin with `layer.`, without that prefix.
Part part_of(const std::map<std::string, std::vector<float>>& channels, const std::string& layer) {
  Part part{.name = layer};
  for (const auto& [name, samples] : channels)
    if (name.starts_with(layer + ".")) part.channels[name.substr(layer.size() + 1)] = samples;
  return part;
}

class Layers : public ::testing::Test {
 protected:
  Outcome run(Words words, const Words& more = {}) const {
    words.insert(words.end(), {"--device", "cpu"});
    words.insert(words.end(), more.begin(), more.end());
    return run_lull(words);
  }
  /// Returns the denoised picture of a file.
  Frame denoised(const std::string& name, const Words& more = {"--guide", "auto"}) const {
    const std::string out = folder_ / ("clean." + name);
    const Outcome outcome = run({"denoise", folder_ / name, out, "-y", "-q"}, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return frames_of(out).at(0);
  }
  Folder folder_;
};

void expect_same(const Frame& a, const Frame& b) {
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        ASSERT_EQ(a.plane<float>(c)(x, y), b.plane<float>(c)(x, y)) << c << " " << x << " " << y;
}

TEST_F(Layers, DeepPictureIsRejected) {
  const auto channels = scene("beauty.", "albedo.", "variance.");
  Part deep = part_of(channels, "beauty");
  deep.deep = true;
  write(folder_ / "in.exr", {deep});
  write(folder_ / "in.0001.exr", {deep});
  for (const Words& words :
       {Words{"denoise", folder_ / "in.exr", folder_ / "out.exr"},
        Words{"denoise", folder_ / "in.exr", folder_ / "out.png", "--guide", "auto"},
        Words{"denoise", folder_ / "in.%04d.exr", folder_ / "out.%04d.exr", "--sigma", "5"},
        Words{"noise", folder_ / "in.exr"},
        Words{"preview", folder_ / "in.exr", "-o", folder_ / "out.png"}}) {
    Words all = words;
    if (words[0] != "noise") all.insert(all.end(), {"--device", "cpu"});
    const Outcome outcome = run_lull(all);
    EXPECT_EQ(outcome.code, 65) << words[0];
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("has deep pixels"));
  }
  EXPECT_EQ(folder_.names(), (Words{"in.0001.exr", "in.exr"}));
}

// Y alone would be a grey picture of a file with colours.
TEST_F(Layers, LuminanceAndChromaAreRejected) {
  const std::vector<Imf::Rgba> pixels(width * height, Imf::Rgba(0.9f, 0.2f, 0.1f));
  {
    Imf::RgbaOutputFile file((folder_ / "in.exr").c_str(), width, height, Imf::WRITE_YC);
    file.setFrameBuffer(pixels.data(), 1, width);
    file.writePixels(height);
  }
  for (const char* out : {"out.exr", "out.png"}) {
    const Outcome outcome = run({"denoise", folder_ / "in.exr", folder_ / out, "--sigma", "5"});
    EXPECT_EQ(outcome.code, 65);
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("has luminance and chroma ('' (BY RY Y))"));
  }
}

TEST_F(Layers, OtherDeepPartsAreUnchanged) {
  const auto channels = scene("beauty.", "albedo.", "variance.");
  Part deep = part_of(channels, "albedo");
  deep.name = "deep";
  deep.deep = true;
  write(folder_ / "in.exr", {part_of(channels, "beauty"), part_of(channels, "albedo"), deep});
  write(folder_ / "flat.exr", {part_of(channels, "beauty"), part_of(channels, "albedo")});
  expect_same(denoised("in.exr"), denoised("flat.exr"));
  const std::vector<float> sums = sums_of(folder_ / "clean.in.exr", 2, "G");
  for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], 3 * channels.at("albedo.G")[i]);
  // A deep part cannot serve as a feature.
  const Outcome outcome =
      run({"denoise", folder_ / "in.exr", folder_ / "out.exr"}, {"--feature", "albedo=:deep"});
  EXPECT_EQ(outcome.code, 65);
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("deep pixels (many samples each, in deep)"));
}

TEST_F(Layers, MayBeInOtherParts) {
  const auto channels = scene("beauty.", "albedo.", "variance.");
  write(folder_ / "one.exr", {{.name = "", .channels = scene("", "albedo.", "variance.")}});
  const Frame expected = denoised("one.exr");
  const Part beauty = part_of(channels, "beauty"), albedo = part_of(channels, "albedo"),
             variance = part_of(channels, "variance");
  write(folder_ / "parts.exr", {beauty, albedo, variance});
  expect_same(denoised("parts.exr"), expected);
  write(folder_ / "turned.exr", {variance, albedo, beauty});
  expect_same(denoised("turned.exr"), expected);
  // The layers are in another part, and they have user-defined names.
  Part rest{.name = "rest"};
  for (const auto& [name, samples] : channels)
    if (!name.starts_with("beauty")) rest.channels[name] = samples;
  write(folder_ / "rest.exr", {beauty, rest});
  expect_same(denoised("rest.exr"), expected);
  expect_same(denoised("rest.exr", {"--feature", "albedo=:rest.albedo", "--feature",
                                    "variance=:rest.variance"}),
              expected);
}

/// One layer may provide several features, and layers that were not requested in advance can still
/// be read.
TEST_F(Layers, CanBeReadWithThePictureOrLater) {
  write(folder_ / "in.exr", {{.name = "", .channels = scene("", "albedo.", "variance.")}});
  const io::LayerName albedo{"albedo", {"R", "G", "B"}}, red{"albedo", {"R"}};
  const auto source = io::open_source(
      folder_ / "in.exr", {.layers = [&](const std::vector<io::LayerInfo>& all) {
        EXPECT_EQ(all.size(), 3u);
        return std::vector<io::LayerName>{albedo, red, {"none", {"R"}}, {"", {"G"}}};
      }});
  const Frame frame = source->read().value();
  const Frame first = io::read_layer(frame, "albedo", albedo.channels),
              again = io::read_layer(frame, "albedo", albedo.channels);
  EXPECT_EQ(first.pixels, again.pixels);  // it was read already
  const Frame one = io::read_layer(frame, "albedo", red.channels),
              variance = io::read_layer(frame, "variance", {"R", "G", "B"}),
              green = io::read_layer(frame, "", {"G"});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      ASSERT_EQ(one.plane<float>(0)(x, y), first.plane<float>(0)(x, y));
      ASSERT_EQ(green.plane<float>(0)(x, y), frame.plane<float>(1)(x, y));
      ASSERT_FLOAT_EQ(variance.plane<float>(2)(x, y),
                      0.09f * first.plane<float>(2)(x, y) * first.plane<float>(2)(x, y));
    }
  EXPECT_THROW((void)io::read_layer(frame, "none", {"R"}), Error);
}

TEST_F(Layers, AreDecompressedWithTheRequestedThreads) {
  write(folder_ / "in.exr", {{.name = "", .channels = scene("", "albedo.", "variance.")}});
  const int before = Imf::globalThreadCount();
  Imf::setGlobalThreadCount(0);
  (void)io::open_source(folder_ / "in.exr", {.threads = 1})->read();
  EXPECT_EQ(Imf::globalThreadCount(), 0);  // the reading thread itself
  (void)io::open_source(folder_ / "in.exr", {.threads = 3})->read();
  EXPECT_EQ(Imf::globalThreadCount(), 3);
  Imf::setGlobalThreadCount(before);
}

}  // namespace
}  // namespace lull::tools
