// Tests the noise of volumes in the command: it is reported, removed, and stored in files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "io/support/volumes.h"
#include "noise/volume/phantom.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using io::test::File;
using io::test::volume;
using io::test::VolumeSpec;
using lull::test_support::Draw;
using lull::test_support::Phantom;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double sigma = 9;
const Phantom phantom{.width = 48, .height = 44, .slices = 40};
const VolumeSpec spec{
    .dim = {phantom.width, phantom.height, phantom.slices}, .datatype = 16, .bitpix = 32};

/// The values of the file are 8 times those of the phantom.
constexpr float unit = 8;
template <class Noise>
std::vector<float> noisy_samples(const Noise& noise) {
  std::vector<float> voxels;
  for (int z = 0; z < phantom.slices; ++z)
    for (int y = 0; y < phantom.height; ++y)
      for (int x = 0; x < phantom.width; ++x)
        voxels.push_back(unit * static_cast<float>(noise(phantom.clean(x, y, z), x)));
  return voxels;
}
std::vector<float> rician_voxels() {
  Draw draw;
  return noisy_samples([&](double v, int) { return draw.rician(v, sigma); });
}

class VolumeNoiseCommand : public ::testing::Test {
 protected:
  void SetUp() override { write("in.nii", rician_voxels()); }

  void write(const std::string& name, const std::vector<float>& voxels) {
    const File file = volume(spec, voxels);
    write_bytes(folder_ / name, {file.begin(), file.end()});
  }
  Outcome denoise(const std::string& in, const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> arguments{folder_ / in, folder_ / out, "-y",       "--device", "cpu",
                                       "--profile",  "fast",        "--window", "5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_lull(arguments);
  }
  std::string bytes(const std::vector<std::string>& more) {
    const Outcome outcome = denoise("in.nii", "out.nii", more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return bytes_of(folder_ / "out.nii");
  }
  std::vector<float> voxels_of(const std::string& name) {
    const std::string bytes = bytes_of(folder_ / name);
    return io::test::samples_of<float>(File(bytes.begin(), bytes.end()), spec);
  }
  /// Returns the mean of air that is 3 voxels from anything else, in units of the phantom.
  double mean_of_air(const std::vector<float>& voxels) {
    double sum = 0;
    int count = 0;
    for (int z = 0; z < phantom.slices; ++z)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x, ++count)
          sum += static_cast<double>(voxels[(z * phantom.height + y) * phantom.width + x]);
    return sum / count / static_cast<double>(unit);
  }
  void expect_refusal(const Outcome& outcome, const std::string& part, int code = 2) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part));
  }
  Folder folder_;
};

TEST_F(VolumeNoiseCommand, IsEstimatedReportedAndRemoved) {
  const Outcome told = run_lull({"noise", folder_ / "in.nii"});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("noise: Rician, 7"));  // 72 in units of the file
  EXPECT_THAT(told.out, HasSubstr("(the file's units), by background and tissue"));
  const Outcome json = run_lull({"noise", folder_ / "in.nii", "--json"});
  const auto scene = nlohmann::json::parse(json.out)["scenes"][0];
  EXPECT_EQ(scene["volume"]["kind"], "rician");
  const Outcome outcome = denoise("in.nii", "out.nii", {});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("noise: Rician, 7"));
  EXPECT_LT(mean_of_air(voxels_of("out.nii")), 0.2 * sigma);
  ASSERT_EQ(denoise("in.nii", "out.nii", {"--noise", "gaussian"}).code, 0);
  EXPECT_NEAR(mean_of_air(voxels_of("out.nii")), 1.25 * sigma, 0.1 * sigma);
}

TEST_F(VolumeNoiseCommand, KindOfAGivenLevelComesFromTheBackground) {
  const std::vector<std::string> given{"--sigma", "72"};
  auto rician = given, gaussian = given;
  rician.insert(rician.end(), {"--noise", "rician"});
  gaussian.insert(gaussian.end(), {"--noise", "gaussian"});
  const Outcome outcome = denoise("in.nii", "out.nii", given);
  EXPECT_THAT(outcome.err, HasSubstr("noise: Rician, estimated from the background"));
  const std::string found = bytes_of(folder_ / "out.nii");
  EXPECT_TRUE(found == bytes(rician));
  EXPECT_FALSE(found == bytes(gaussian));
  Draw draw;
  write("in.nii", noisy_samples([&](double v, int) { return draw.gaussian(v, sigma); }));
  EXPECT_TRUE(bytes(given) == bytes(gaussian));
}

TEST_F(VolumeNoiseCommand, ThreadsAndNoiseFileDoNotChangeTheBytes) {
  const std::string one = bytes({"--threads", "1"});
  EXPECT_TRUE(one == bytes({"--threads", "3"}));
  ASSERT_EQ(run_lull({"noise", folder_ / "in.nii", "-o", folder_ / "noise.json"}).code, 0);
  EXPECT_TRUE(one == bytes({"--noise", folder_ / "noise.json"}));
  // A name of a kind denotes the kind; a file with such a name needs a folder in its path.
  expect_refusal(denoise("in.nii", "no.nii", {"--noise", "./rician"}), "./rician", 66);
}

TEST_F(VolumeNoiseCommand, VaryingLevelIsWrittenAndUsed) {
  Draw draw;
  const auto level = [](int x) { return 4 + 12 * x / (phantom.width - 1.0); };
  write("in.nii", noisy_samples([&](double v, int x) { return draw.rician(v, level(x)); }));
  const Outcome outcome = denoise("in.nii", "out.nii", {"--noise-map", folder_ / "map.nii"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(" over the volume"));
  const auto map = voxels_of("map.nii");
  ASSERT_EQ(map.size(), voxels_of("in.nii").size());
  const auto at = [&](int x) {
    return static_cast<double>(map[(20 * phantom.height + 22) * phantom.width + x] / unit);
  };
  EXPECT_NEAR(at(12), level(12), 1.2);
  EXPECT_NEAR(at(36), level(36), 3.0);
  EXPECT_GT(at(36), 1.4 * at(12));
  const std::string head = bytes_of(folder_ / "in.nii").substr(0, 352);
  EXPECT_TRUE(bytes_of(folder_ / "map.nii").substr(0, 352) == head);
  // The result is the same with the map from a file, and with the map from the noise command.
  const std::string followed = bytes_of(folder_ / "out.nii");
  ASSERT_EQ(run_lull({"noise", folder_ / "in.nii", "-o", folder_ / "noise.json", "--noise-map",
                      folder_ / "again.nii"})
                .code,
            0);
  EXPECT_TRUE(bytes_of(folder_ / "again.nii") == bytes_of(folder_ / "map.nii"));
  EXPECT_TRUE(bytes({"--noise", folder_ / "noise.json", "--noise-map", folder_ / "map.nii"}) ==
              followed);
}

TEST_F(VolumeNoiseCommand, MapOfANoiseFileIsStretchedToTheVolume) {
  const std::string path = folder_ / "noise.json";
  ASSERT_EQ(run_lull({"noise", folder_ / "in.nii", "-o", path}).code, 0);
  auto record = nlohmann::json::parse(bytes_of(path));
  auto& found = record["scenes"][0]["volume"];
  const float level = found["level"];
  found["sigma"] = level;
  found["map"] = {{"voxels", {10, 500, 400}}, {"nodes", {1, 1, 2}}, {"levels", {level, 2 * level}}};
  write_bytes(path, record.dump());
  const Outcome outcome =
      denoise("in.nii", "out.nii", {"--noise", path, "--noise-map", folder_ / "map.nii"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  // The two nodes are in the middle of the two halves of the volume.
  const auto map = voxels_of("map.nii");
  EXPECT_FLOAT_EQ(map.back(), 2 * map.front());
}

TEST_F(VolumeNoiseCommand, InvalidOptionsAreRejected) {
  const std::string map = folder_ / "map.nii";
  expect_refusal(denoise("in.nii", "no.nii", {"--sigma", "9", "--noise-map", map}), "--noise-map");
  expect_refusal(denoise("in.nii", "no.nii", {"--noise-map", folder_ / "no.nii"}), "--noise-map");
  expect_refusal(denoise("in.nii", "no.nii", {"--noise", "poisson:40:0:9", "--noise-map", map}),
                 "photon noise");
  const std::vector<std::string> raw{"--raw-format", "gray", "--size", "48x44", "--stack"};
  auto more = raw;
  more.insert(more.end(), {"--noise-map", map});
  write_bytes(folder_ / "in.raw", std::string(48 * 44 * 12, 'x'));
  expect_refusal(denoise("in.raw", "no.raw", more), "--noise-map");
  more = {raw.begin(), raw.end() - 1};
  more.insert(more.end(), {"--noise", "rician", "--temporal", "0"});
  const Outcome pictures = run_lull([&] {
    std::vector<std::string> all{folder_ / "in.raw", folder_ / "no.raw"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }());
  expect_refusal(pictures, "--stack");
  expect_refusal(run_lull({"noise", folder_ / "in.nii", "--noise", "some.json"}), "some.json");
  write_bytes(map, "here");
  expect_refusal(run_lull({"noise", folder_ / "in.nii", "--noise-map", map}), "exists", 73);
  EXPECT_EQ(bytes_of(map), "here");
  for (const std::string& name : folder_.names()) EXPECT_THAT(name, Not(HasSubstr("no.")));
}

TEST_F(VolumeNoiseCommand, IsRemovedSliceBySliceToo) {
  (void)bytes({"--method", "bm3d", "--noise", "rician", "--temporal", "0"});
  EXPECT_LT(mean_of_air(voxels_of("out.nii")), 0.25 * sigma);
}

class VolumeNoiseOfPipes : public VolumeNoiseCommand {
 protected:
  std::string denoised(const std::string& in, const std::vector<std::string>& more) {
    std::vector<std::string> all{"--raw-format", "gray", "--size", "48x44", "--stack"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome outcome = denoise(in, "out.raw", all);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    messages_ = outcome.err;
    return bytes_of(folder_ / "out.raw");
  }
  std::string messages_;
};

TEST_F(VolumeNoiseOfPipes, ComesFromTheFirstSlices) {
  std::string raw;
  for (const float v : rician_voxels())
    raw += static_cast<char>(static_cast<std::uint8_t>(std::min(v / unit + 0.5f, 255.0f)));
  write_bytes(folder_ / "in.raw", raw);
  const std::string fifo = folder_ / "pipe.raw";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(fifo, std::ios::binary) << raw; });
  const std::string piped = denoised("pipe.raw", {});
  writer.join();
  EXPECT_THAT(messages_, HasSubstr("noise: Rician, "));
  // All 40 slices are among the first ones.
  EXPECT_TRUE(piped == denoised("in.raw", {}));
  // A selection gives the same slices as the complete volume.
  const std::vector<std::string> small{"--cube", "3", "--step", "2"};
  const std::size_t slice = 48 * 44;
  auto part = small;
  part.insert(part.end(), {"--frames", "20-22"});
  EXPECT_TRUE(denoised("in.raw", part) == denoised("in.raw", small).substr(20 * slice, 3 * slice));
}

}  // namespace
}  // namespace lull::tools
