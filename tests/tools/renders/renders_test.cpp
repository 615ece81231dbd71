// Tests lull denoise on renders: the recognised layers of OpenEXR files, the data that are kept
// with the picture, and rejected requests.

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfInputPart.h>
#include <OpenEXR/ImfMultiPartInputFile.h>
#include <OpenEXR/ImfMultiPartOutputFile.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfOutputPart.h>
#include <OpenEXR/ImfStringAttribute.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

constexpr int width = 64, height = 48;
/// The channels by name; samples are row by row.
using Channels = std::map<std::string, std::vector<float>>;
struct Part {
  std::string name;
  Channels channels;
};

float light_at(int x) { return 0.2f + 3.0f * static_cast<float>(x) / width; }
float albedo_at(int x, int y, int c) {
  return (x / 4 + y / 4) % 2 == 0 ? 0.9f : 0.2f + 0.1f * static_cast<float>(c);
}

/// Returns a noisy picture, its albedo in `layer`.R and so on.
Channels scene(const std::string& picture = "", const std::string& albedo = "albedo.",
               const std::string& variance = "variance.", unsigned seed = 1) {
  Channels channels;
  std::mt19937 random(seed);
  std::normal_distribution<float> gauss;
  for (int c = 0; c < 3; ++c) {
    const std::string suffix(1, "RGB"[c]);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const float a = albedo_at(x, y, c), s = 0.3f * light_at(x) * a;
        channels[picture + suffix].push_back(light_at(x) * a + s * gauss(random));
        channels[albedo + suffix].push_back(a);
        channels[variance + suffix].push_back(s * s);
      }
  }
  return channels;
}

double error(const Channels& channels, const std::string& picture = "") {
  double sum = 0;
  for (int c = 0; c < 3; ++c) {
    const std::vector<float>& plane = channels.at(picture + std::string(1, "RGB"[c]));
    for (int i = 0; i < width * height; ++i) {
      const float d = plane[i] - light_at(i % width) * albedo_at(i % width, i / width, c);
      sum += static_cast<double>(d * d);
    }
  }
  return sum / (3 * width * height);
}

void insert(Imf::FrameBuffer& buffer, const std::string& name, std::vector<float>& samples) {
  buffer.insert(name,
                Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(samples.data()), 4, 4 * width));
}

void write_parts(const std::string& path, std::vector<Part> parts) {
  std::vector<Imf::Header> headers;
  for (Part& part : parts) {
    Imf::Header header(width, height);
    header.setName(part.name);
    header.setType("scanlineimage");
    header.insert("artist", Imf::StringAttribute("a test"));
    for (auto& [name, samples] : part.channels)
      header.channels().insert(name, Imf::Channel(Imf::FLOAT));
    headers.push_back(header);
  }
  Imf::MultiPartOutputFile file(path.c_str(), headers.data(), static_cast<int>(headers.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Imf::FrameBuffer buffer;
    for (auto& [name, samples] : parts[i].channels) insert(buffer, name, samples);
    Imf::OutputPart part(file, static_cast<int>(i));
    part.setFrameBuffer(buffer);
    part.writePixels(height);
  }
}

void write_exr(const std::string& path, const Channels& channels) {
  write_parts(path, {{"", channels}});
}

Channels read_exr(const std::string& path, int at = 0) {
  Imf::MultiPartInputFile file(path.c_str());
  Imf::InputPart part(file, at);
  Channels channels;
  Imf::FrameBuffer buffer;
  const Imf::ChannelList& list = part.header().channels();
  for (auto c = list.begin(); c != list.end(); ++c) {
    channels[c.name()].resize(width * height);
    insert(buffer, c.name(), channels[c.name()]);
  }
  part.setFrameBuffer(buffer);
  part.readPixels(0, height - 1);
  return channels;
}

struct Renders : ::testing::Test {
  Outcome denoise(const std::string& from, const std::string& to,
                  const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"denoise",     "-q",        "-y",        "-i",
                                       folder / from, "-o",        folder / to, "--device",
                                       "cpu",         "--threads", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_lull(arguments);
  }
  void expect_refused(const std::vector<std::string>& more, int code, const std::string& text) {
    const Outcome outcome = denoise("in.exr", "refused.exr", more);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
    for (const std::string& name : folder.names()) EXPECT_NE(name, "refused.exr");
  }
  Folder folder;
};

TEST_F(Renders, ImproveWithEitherMethod) {
  const Channels noisy = scene();
  write_exr(folder / "in.exr", noisy);
  for (const char* method : {"nlm", "bm3d"}) {
    const Outcome outcome = denoise("in.exr", "out.exr", {"--guide", "auto", "--method", method});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_LT(error(read_exr(folder / "out.exr")), 0.1 * error(noisy)) << method;
  }
  ASSERT_EQ(denoise("in.exr", "chosen.exr", {"--guide", "auto"}).code, 0);
  ASSERT_EQ(denoise("in.exr", "nlm.exr", {"--guide", "auto", "--method", "nlm"}).code, 0);
  EXPECT_EQ(bytes_of(folder / "chosen.exr"), bytes_of(folder / "nlm.exr"));
}

TEST_F(Renders, LayersAreRecognisedByTheNamesOfRenderers) {
  const double best = [&] {
    write_exr(folder / "in.exr", scene());
    EXPECT_EQ(denoise("in.exr", "out.exr", {"--guide", "auto"}).code, 0);
    return error(read_exr(folder / "out.exr"));
  }();
  struct Names {
    const char *picture, *albedo, *variance;
  };
  for (const Names n :
       {Names{"ViewLayer.Noisy Image.", "ViewLayer.Denoising Albedo.",
              "ViewLayer.Denoising Variance."},
        Names{"ViewLayer.Combined.", "ViewLayer.DiffCol.", "variance."},
        Names{"RGBA.", "denoise_albedo.", "variance."}, Names{"Ci.", "albedo.", "mse."}}) {
    write_exr(folder / "in.exr", scene(n.picture, n.albedo, n.variance));
    const Outcome outcome = denoise("in.exr", "out.exr", {"--guide", "auto"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NEAR(error(read_exr(folder / "out.exr"), n.picture), best, 1e-9) << n.picture;
  }
  // Layers are also recognised by the names that the user gives.
  write_exr(folder / "in.exr", scene("", "mine.", "var."));
  ASSERT_EQ(
      denoise("in.exr", "out.exr", {"--feature", "albedo=:mine", "--feature", "variance=:var"})
          .code,
      0);
  EXPECT_NEAR(error(read_exr(folder / "out.exr")), best, 1e-9);
  Channels albedo;
  for (const char* c : {"R", "G", "B"}) albedo[c] = scene().at(std::string("albedo.") + c);
  write_exr(folder / "albedo.exr", albedo);
  ASSERT_EQ(denoise("in.exr", "out.exr",
                    {"--feature", "albedo=" + folder / "albedo.exr", "--feature", "variance=:var"})
                .code,
            0);
  EXPECT_NEAR(error(read_exr(folder / "out.exr")), best, 1e-9);
}

TEST_F(Renders, OtherChannelsAndPartsAreKept) {
  Channels picture = scene(), matte;
  picture["A"] = std::vector<float>(width * height, 0.5f);
  picture["crypto.R"] = std::vector<float>(width * height, 1e30f);
  for (int i = 0; i < width * height; ++i) matte["Y"].push_back(static_cast<float>(i));
  write_parts(folder / "in.exr", {{"beauty", picture}, {"matte", matte}});
  const Outcome outcome = denoise("in.exr", "out.exr", {"--guide", "auto"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  Channels first = read_exr(folder / "out.exr");
  for (const auto& [name, samples] : picture) {
    const bool changes = name == "R" || name == "G" || name == "B";
    EXPECT_EQ(first.at(name) == samples, !changes) << name;
  }
  EXPECT_EQ(read_exr(folder / "out.exr", 1), matte);
  Imf::MultiPartInputFile file((folder / "out.exr").c_str());
  ASSERT_EQ(file.parts(), 2);
  EXPECT_EQ(file.header(1).name(), "matte");
  EXPECT_EQ(file.header(0).typedAttribute<Imf::StringAttribute>("artist").value(), "a test");
}

TEST_F(Renders, LightIsNotClippedAndNanPasses) {
  Channels noisy = scene();
  for (const char* c : {"R", "G", "B"}) {
    for (int y = 10; y < 20; ++y)
      for (int x = 10; x < 20; ++x)
        noisy[c][y * width + x] = 5000, noisy[std::string("variance.") + c][y * width + x] = 0;
    noisy[c][30 * width + 30] = NAN;
    noisy[c][31 * width + 40] = std::numeric_limits<float>::infinity();
  }
  write_exr(folder / "in.exr", noisy);
  for (const char* method : {"nlm", "bm3d"}) {
    ASSERT_EQ(denoise("in.exr", "out.exr", {"--guide", "auto", "--method", method}).code, 0);
    const Channels clean = read_exr(folder / "out.exr");
    EXPECT_NEAR(clean.at("R")[15 * width + 15], 5000, 50) << method;
    EXPECT_TRUE(std::isnan(clean.at("R")[30 * width + 30]));
    EXPECT_TRUE(std::isinf(clean.at("G")[31 * width + 40]));
    int numbers = 0;
    for (const float v : clean.at("B")) numbers += std::isfinite(v);
    EXPECT_EQ(numbers, width * height - 2) << method;
  }
}

TEST_F(Renders, SequencesImproveWithTemporalFiltering) {
  for (unsigned n = 0; n < 4; ++n)
    write_exr(folder / ("render.000" + std::to_string(n) + ".exr"),
              scene("", "albedo.", "variance.", n + 1));
  for (const char* method : {"nlm", "bm3d"}) {
    const auto left = [&](const char* radius) {
      const Outcome outcome =
          denoise("render.%04d.exr", "clean.%04d.exr",
                  {"--guide", "auto", "--method", method, "--temporal", radius});
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      return error(read_exr(folder / "clean.0002.exr"));
    };
    EXPECT_LT(left("1"), 0.9 * left("0")) << method;
  }
}

TEST_F(Renders, SingleDepthLayerIsAGreyPicture) {
  Channels depth;
  for (int i = 0; i < width * height; ++i)
    depth["depth.Z"].push_back(100.0f + static_cast<float>(i % 7));
  write_exr(folder / "in.exr", depth);
  const Outcome outcome = denoise("in.exr", "out.exr", {"--sigma", "5", "--method", "nlm"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(read_exr(folder / "out.exr"), depth);
}

/// Returns the sRGB byte that displays light from 0 to 1.
double displayed(float light) {
  const double v = std::isnan(light) ? 0 : std::clamp(static_cast<double>(light), 0.0, 1.0);
  return 255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055);
}

/// Returns the maximum difference between panel 0 or 1 of a preview and a render. `white` is the
/// light that maps to 255.
double difference(const Frame& preview, int panel, const Channels& render, float white = 1) {
  double most = 0;
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const float light = render.at(std::string(1, "RGB"[c]))[y * width + x];
        const double byte = preview.plane<std::uint8_t>(c)(panel * (width + 4) + x, y);
        most = std::max(most, std::abs(byte - displayed(light / white)));
      }
  return most;
}

TEST_F(Renders, PreviewsShowLightInSrgb) {
  Channels noisy = scene();
  for (auto& [name, samples] : noisy)  // most of it is below 1
    for (float& v : samples) v *= name.starts_with("albedo") ? 1 : name[0] == 'v' ? 0.09f : 0.3f;
  noisy["R"][70] = 5000;
  noisy["G"][80] = NAN;
  write_exr(folder / "in.exr", noisy);
  const Outcome outcome = run_lull(
      {"preview", folder / "in.exr", "--guide", "auto", "-d", "cpu", "-o", folder / "p.png"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(denoise("in.exr", "out.exr", {"--guide", "auto"}).code, 0);
  const Frame preview = frames_of(folder / "p.png").at(0);
  ASSERT_EQ(preview.format.width, 3 * width + 8);
  EXPECT_LE(difference(preview, 0, noisy), 1);
  EXPECT_LE(difference(preview, 1, read_exr(folder / "out.exr")), 1);
  // The light has another unit.
  ASSERT_EQ(run_lull({"preview", folder / "in.exr", "--guide", "auto", "-d", "cpu", "--white", "4",
                      "-y", "-o", folder / "p.png"})
                .code,
            0);
  EXPECT_LE(difference(frames_of(folder / "p.png").at(0), 0, noisy, 4), 1);
}

TEST_F(Renders, PreviewsEqualTheFilteredSequence) {
  // The layers differ from frame to frame, so that the result reveals which layers were used.
  for (unsigned n = 0; n < 10; ++n) {
    const std::string number = std::to_string(n);
    Channels both = scene("", "albedo.", "variance.", n + 1), picture, albedo;
    for (const char* c : {"R", "G", "B"}) {
      for (float& v : picture[c] = both[c]) v *= 0.3f;
      albedo[c] = both[std::string("albedo.") + c];
      std::rotate(albedo[c].begin(), albedo[c].begin() + 3 * n, albedo[c].end());
    }
    write_exr(folder / ("in." + number + ".exr"), picture);
    write_exr(folder / ("beside." + number + ".exr"), albedo);
  }
  const std::string beside = folder / "beside.%d.exr";
  for (std::vector<std::string> more :
       {std::vector<std::string>{"--feature", "albedo=" + beside},
        std::vector<std::string>{"--guide", beside, "--sigma", "20", "--profile", "fast"}}) {
    more.insert(more.end(), {"--temporal", "1", "--white", "1"});
    ASSERT_EQ(denoise("in.%d.exr", "out.%d.exr", more).code, 0);
    std::vector<std::string> arguments{
        "preview", folder / "in.%d.exr", "--at", "0.32", "-d", "cpu", "-y", "-o", folder / "p.png"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_lull(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Frame preview = frames_of(folder / "p.png").at(0);
    EXPECT_LE(difference(preview, 0, read_exr(folder / "in.8.exr")), 1) << more[0];
    EXPECT_LE(difference(preview, 1, read_exr(folder / "out.8.exr")), 1) << more[0];
  }
}

TEST_F(Renders, PreviewsRejectTheSameRequestsAsDenoising) {
  write_exr(folder / "in.exr", scene());
  const auto refused = [&](std::vector<std::string> more, int code, const std::string& text) {
    more.insert(more.begin(), {"preview", folder / "in.exr", "-o", folder / "p.png", "-d", "cpu"});
    const Outcome outcome = run_lull(more);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"in.exr"});
  };
  refused({"--guide", "auto", "--depth"}, 2, "--guide with a depth map");
  refused({"--depth"}, 2, "a depth map has one value per pixel");
  refused({"--guide", "auto", "--method", "bm4d"}, 2, "volumes have no features");
  refused({"--guide", folder / "p.png"}, 2, "it is the file of --guide");
  refused({"--feature", "albodo=:albedo"}, 2, "albedo, normal, depth");
  refused({"--guide", folder / "missing.exr"}, 66, "missing.exr");
  refused({"--align"}, 2, "no such option: --align");
}

TEST_F(Renders, InvalidRequestsAreRejectedInOneLine) {
  write_exr(folder / "in.exr", scene());
  expect_refused({"--feature", "albedo=:nothing"}, 65, "albedo (B G R)");
  expect_refused({"--feature", "albodo=:albedo"}, 2, "albedo, normal, depth");
  expect_refused({"--feature", "albedo="}, 2, "NAME=FILE or NAME=:LAYER");
  expect_refused({"--feature", "albedo=" + folder / "missing.exr"}, 66, "missing.exr");
  expect_refused({"--guide", "auto", "--method", "bm4d"}, 2, "bm4d");
  expect_refused({"--guide", "auto", "--nlm-h", "1"}, 2, "--nlm-h");
  Channels small;
  small["Y"] = std::vector<float>(width * height, 0.5f);
  write_exr(folder / "small.exr", small);
  expect_refused({"--feature", "normal=" + folder / "small.exr"}, 65, "one channel");
  write_exr(folder / "in.exr", small);
  expect_refused({"--guide", "auto"}, 65, "no layer with a well-known name");
}

TEST_F(Renders, FeaturesOfAnotherSizeAreRejected) {
  write_exr(folder / "in.exr", scene());
  Imf::Header header(width, height / 2);
  header.channels().insert("Y", Imf::Channel(Imf::FLOAT));
  {
    std::vector<float> plane(width * height / 2, 1.0f);
    Imf::FrameBuffer buffer;
    insert(buffer, "Y", plane);
    Imf::OutputFile file((folder / "half.exr").c_str(), header);
    file.setFrameBuffer(buffer);
    file.writePixels(height / 2);
  }
  expect_refused({"--feature", "depth=" + folder / "half.exr"}, 65, "64x24");
}

}  // namespace
}  // namespace lull::tools
