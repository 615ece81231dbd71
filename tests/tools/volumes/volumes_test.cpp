// Tests lull denoise --method on stacks of slices that are filtered as volumes.

#include "io/support/volumes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <tuple>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using io::test::volume;
using io::test::VolumeSpec;
using ::testing::HasSubstr;

constexpr int width = 28, height = 24, slices = 12;

double clean_voxel(int x, int y, int z) {
  const double dx = x - 13, dy = y - 12, dz = 2 * (z - 6);
  return dx * dx + dy * dy + dz * dz < 70 ? 180 : 80 + 2 * x + 10 * std::sin(0.6 * (y + z));
}

std::vector<std::uint8_t> noisy_volume(unsigned seed = 1) {
  std::mt19937 rng{seed};
  std::normal_distribution<double> noise{0, 12};
  std::vector<std::uint8_t> voxels;
  for (int z = 0; z < slices; ++z)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        voxels.push_back(static_cast<std::uint8_t>(
            std::lround(std::clamp(clean_voxel(x, y, z) + noise(rng), 0.0, 255.0))));
  return voxels;
}

double error_of(const std::string& raw) {
  EXPECT_EQ(raw.size(), width * height * slices);
  double sum = 0;
  for (int i = 0; i < static_cast<int>(raw.size()); ++i) {
    const int z = i / (width * height), y = i / width % height;
    sum += std::pow(static_cast<std::uint8_t>(raw[i]) - clean_voxel(i % width, y, z), 2);
  }
  return std::sqrt(sum / static_cast<double>(raw.size()));
}

class Volumes : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto voxels = noisy_volume();
    write_bytes(folder / "in.raw", {voxels.begin(), voxels.end()});
    const auto file = volume({.dim = {width, height, slices}, .datatype = 2, .bitpix = 8}, voxels);
    write_bytes(folder / "in.nii", {file.begin(), file.end()});
    FrameFormat format{.width = width, .height = height};
    for (int z = 0; z < slices; ++z) {
      Frame picture = clean_picture(format);
      for (int y = 0; y < height; ++y)
        std::copy_n(voxels.data() + (z * height + y) * width, width,
                    picture.plane<std::uint8_t>(0).row(y));
      write_pnm(folder / ("in_" + std::to_string(100 + z) + ".pgm"), picture);
    }
  }

  Outcome denoise(const std::string& in, const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> arguments{"denoise", "-y",         "-i",        folder / in,
                                       "-o",      folder / out, "--sigma",   "12",
                                       "-d",      "cpu",        "--threads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_lull(arguments);
  }
  /// Returns the denoised raw slices.
  std::string raw(std::vector<std::string> more) {
    more.insert(more.end(), {"--raw-format", "gray", "--size",
                             std::to_string(width) + "x" + std::to_string(height)});
    const Outcome outcome = denoise("in.raw", "out.raw", more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return bytes_of(folder / "out.raw");
  }
  std::string nifti(const std::vector<std::string>& more) {
    const Outcome outcome = denoise("in.nii", "out.nii", more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return bytes_of(folder / "out.nii");
  }
  Folder folder;
};

TEST_F(Volumes, AreTheDefaultForStacks) {
  const std::string automatic = nifti({}), volumes = nifti({"--method", "bm4d"}),
                    pictures = nifti({"--method", "bm3d"});
  EXPECT_EQ(automatic, volumes);
  EXPECT_NE(automatic, pictures);
  EXPECT_LT(error_of(volumes.substr(352)), error_of(pictures.substr(352)));
  EXPECT_LT(error_of(volumes.substr(352)), 6);
  // An option that only one method has selects that method.
  EXPECT_EQ(nifti({"--tau", "2000"}), nifti({"--tau", "2000", "--method", "bm3d"}));
  EXPECT_EQ(nifti({"--cube", "3", "--step", "3"}),
            nifti({"--cube", "3", "--step", "3", "--method", "bm4d"}));
}

TEST_F(Volumes, AreSlicesIfOnlySlicesSupportAnOption) {
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--window", "39"}, {"--step", "6"}}) {
    const Outcome outcome = denoise("in.nii", "out.nii", {option, value});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("slice by slice, with --method bm3d"));
    EXPECT_THAT(outcome.err, HasSubstr(option.substr(2) + " of the first phase = " + value));
    const std::string automatic = bytes_of(folder / "out.nii");
    EXPECT_EQ(automatic, nifti({option, value, "--method", "bm3d"}));
    const Outcome refused = denoise("in.nii", "out.nii", {option, value, "--method", "bm4d"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("--method bm3d"));
  }
  // A value that neither method supports is an error.
  EXPECT_EQ(denoise("in.nii", "out.nii", {"--window", "4"}).code, 2);
  EXPECT_EQ(denoise("in.nii", "out.nii", {"--window", "39", "--cube", "3"}).code, 2);
}

TEST_F(Volumes, ThinStacksAreFilteredAsSlices) {
  const auto voxels = noisy_volume();
  const auto file = volume({.dim = {width, height, 7}, .datatype = 2, .bitpix = 8},
                           std::vector(voxels.begin(), voxels.begin() + 7 * width * height));
  write_bytes(folder / "in.nii", {file.begin(), file.end()});
  EXPECT_EQ(nifti({}), nifti({"--method", "bm3d"}));
  EXPECT_NE(nifti({}), nifti({"--method", "bm4d"}));
}

TEST_F(Volumes, ThickSlicesAreFilteredAsSlices) {
  const auto voxels = noisy_volume();
  auto file = volume({.dim = {width, height, slices}, .datatype = 2, .bitpix = 8}, voxels);
  const auto with_spacing = [&](float x, float y, float z) {
    io::test::put(file, 80, x, false);
    io::test::put(file, 84, y, false);
    io::test::put(file, 88, z, false);
    write_bytes(folder / "in.nii", {file.begin(), file.end()});
  };
  with_spacing(0.5, 1, 4);
  EXPECT_EQ(nifti({}), nifti({"--method", "bm3d"}));
  EXPECT_NE(nifti({}), nifti({"--method", "bm4d"}));
  EXPECT_THAT(denoise("in.nii", "out.nii", {"--log-level", "info"}).err,
              HasSubstr("slice by slice (bm3d)"));
  // With this axis, the thick slices are not the filtered slices, so bm4d is chosen.
  EXPECT_EQ(nifti({"--axis", "y"}), nifti({"--axis", "y", "--method", "bm4d"}));
  for (const auto& [x, y, z] :
       {std::array{1.0f, 1.0f, 3.9f}, {1.0f, 4.0f, 4.0f}, {0.0f, 1.0f, 9.0f}, {1.0f, 1.0f, NAN}}) {
    with_spacing(x, y, z);
    EXPECT_EQ(nifti({}), nifti({"--method", "bm4d"})) << x << " " << y << " " << z;
  }
}

TEST_F(Volumes, VolumesOfASeriesAreIndependent) {
  const auto voxels = noisy_volume();
  auto twice = voxels;
  twice.insert(twice.end(), voxels.begin(), voxels.end());
  const std::string once = nifti({});
  const auto file = volume({.dim = {width, height, slices, 2}, .datatype = 2, .bitpix = 8}, twice);
  write_bytes(folder / "in.nii", {file.begin(), file.end()});
  const std::string both = nifti({});
  ASSERT_EQ(both.size(), 352 + 2 * voxels.size());
  EXPECT_EQ(both.substr(352, voxels.size()), once.substr(352));
  EXPECT_EQ(both.substr(352 + voxels.size()), once.substr(352));
}

TEST_F(Volumes, SequencesAndPipesCanBeVolumes) {
  const std::string volumes = raw({"--stack"});
  EXPECT_LT(error_of(volumes), 6);
  EXPECT_NE(volumes, raw({"--temporal", "0"}));
  EXPECT_EQ(raw({"--stack", "--method", "bm3d"}), raw({"--temporal", "0"}));
  const Outcome outcome = denoise("in_*.pgm", "out_*.pgm", {"--stack"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (int z = 0; z < slices; ++z) {
    const std::string slice = bytes_of(folder / ("out_" + std::to_string(100 + z) + ".pgm"));
    EXPECT_EQ(slice.substr(slice.size() - width * height),
              volumes.substr(z * width * height, width * height));
  }
}

TEST_F(Volumes, SelectionMatchesTheCompleteVolume) {
  const std::vector<std::string> small{"--stack", "--window", "3", "--cube", "3", "--step", "2"};
  const std::string whole = raw(small);
  for (const auto& [from, to] : {std::pair{0, 1}, {4, 7}, {10, 11}}) {
    auto part = small;
    part.insert(part.end(), {"--frames", std::to_string(from) + "-" + std::to_string(to)});
    EXPECT_EQ(raw(part), whole.substr(from * width * height, (to - from + 1) * width * height));
  }
}

TEST_F(Volumes, RejectOptionsOfPictures) {
  const auto expect = [&](const std::string& in, const std::string& out,
                          const std::vector<std::string>& more, const std::string& part) {
    const Outcome outcome = denoise(in, out, more);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part));
  };
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--tau", "100"},
                                                        {"--transform", "dct"},
                                                        {"--group-transform", "haar"},
                                                        {"--guide-noise", "0"},
                                                        {"--temporal", "1"},
                                                        {"--temporal-window", "9"},
                                                        {"--place-bonus", "0"},
                                                        {"--scene-cut", "off"},
                                                        {"--batch", "64x64"},
                                                        {"--second-search", "none"},
                                                        {"--second-search", "luma"},
                                                        {"--profile", "paper"},
                                                        {"--interlaced", "fields"}})
    expect("in.nii", "out.nii", {"--method", "bm4d", option, value}, option);
  expect("in.nii", "out.nii", {"--method", "bm3d", "--cube", "3"}, "--cube");
  expect("in.nii", "out.nii", {"--method", "bm3d", "--mu2-mean", "1"}, "--mu2-mean");
  expect("in.nii", "out.nii", {"--method", "bm4d", "--window", "39"}, "window");
  expect("in.nii", "out.nii", {"--method", "bm5d"}, "--method");
  expect("in.nii", "out.nii", {"--cube", "5"}, "--cube");
  expect("in_100.pgm", "out.pgm", {"--method", "bm4d"}, "--stack");
  expect("in_100.pgm", "out.pgm", {"--cube", "4"}, "--stack");
}

TEST_F(Volumes, SecondSearchIsDoneOnRequest) {
  const std::string usual = raw({"--stack"});
  EXPECT_EQ(raw({"--stack", "--second-search", "kept"}), usual);
  const std::string searched = raw({"--stack", "--second-search", "window"});
  EXPECT_NE(searched, usual);
  EXPECT_NEAR(error_of(searched), error_of(usual), 0.1);
}

TEST_F(Volumes, SegmentsGiveTheSameSamples) {
  std::vector<std::string> job{"--raw-format", "gray", "--size", "28x24", "--stack", "--lossless"};
  ASSERT_EQ(denoise("in.raw", "whole.mkv", job).code, 0);
  job.insert(job.end(), {"--segment-frames", "4"});
  const Outcome outcome = denoise("in.raw", "segments.mkv", job);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto whole = frames_of(folder / "whole.mkv"), segments = frames_of(folder / "segments.mkv");
  ASSERT_EQ(whole.size(), slices);
  ASSERT_EQ(segments.size(), slices);
  for (int z = 0; z < slices; ++z)
    for (int y = 0; y < height; ++y) {
      const std::byte *a = whole[z].planes[0].row(y), *b = segments[z].planes[0].row(y);
      EXPECT_TRUE(std::equal(a, a + width, b)) << z << " " << y;
    }
}

TEST_F(Volumes, ProbeStatesTheContainerOfEachFormat) {
  for (const auto& [name, container, codec] : {std::tuple{"a.nii", "nifti", "nifti1"},
                                               {"a.nii.gz", "nifti", "nifti1"},
                                               {"a.nrrd", "nrrd", "nrrd"},
                                               {"a.mgz", "mgh", "mgh"},
                                               {"a.hdr", "pair", "nifti1 pair"}}) {
    const Outcome copy = run_lull({folder / "in.nii", folder / name, "--sigma", "0"});
    ASSERT_EQ(copy.code, 0) << copy.err;
    const Outcome probe = run_lull({"probe", folder / name, "--json"});
    EXPECT_THAT(probe.out, HasSubstr("\"container\":\"" + std::string(container) + "\""));
    EXPECT_THAT(probe.out, HasSubstr("\"codec\":\"" + std::string(codec) + "\""));
    // Each of these formats has axes.
    const Outcome along_x =
        run_lull({folder / name, folder / "x.nii", "--sigma", "0", "--axis", "x", "-y"});
    EXPECT_EQ(along_x.code, 0) << along_x.err;
  }
  const Outcome pictures = run_lull({folder / "in_%d.pgm", "null", "--sigma", "0", "--axis", "x"});
  EXPECT_EQ(pictures.code, 2);
  EXPECT_THAT(pictures.err, HasSubstr("only volumes have axes"));
}

}  // namespace
}  // namespace lull::tools
