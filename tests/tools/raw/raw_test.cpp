// Tests the command on raw photographs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "io/raw/dng_tags.h"
#include "io/raw/raw_picture.h"
#include "support/dng_files.h"
#include "support/raw_scenes.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using namespace lull::test_support;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int width = 208, height = 160;
constexpr raw::SensorNoise noise{0.003, 1e-5};
constexpr std::int64_t max_pixels = 1 << 28;

std::string write_photo(const Folder& folder, const std::string& name,
                        const DngFixture& fixture = {}, unsigned seed = 1) {
  const raw::Sensor sensor = test_sensor();
  const std::string path = folder / name;
  write_file(path,
             make_dng_file(sensor, make_scene_mosaic(sensor, noise, width, height, seed), fixture));
  return path;
}

/// Root mean square difference of a mosaic's scaled values from the scene.
double error_of(const std::string& path) {
  const io::RawPicture picture = io::read_raw(path, max_pixels);
  const raw::Sensor sensor = test_sensor();
  double sum = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto black = static_cast<double>(picture.facts->black[(y & 1) * 2 + (x & 1)]);
      const double v = (picture.mosaic.plane<std::uint16_t>(0)(x, y) - black) /
                       (static_cast<double>(picture.facts->white) - black);
      const double error = v - scene_light(sensor, sensor.pattern.at(x, y), x, y);
      sum += error * error;
    }
  return std::sqrt(sum / (width * height));
}

TEST(RawPhotographs, MosaicIsDenoisedWithTheNoiseProfile) {
  const Folder folder;
  const std::string in =
      write_photo(folder, "in.dng", {.noise_profile = {noise.gain, noise.offset}});
  const Outcome run = run_lull({in, folder / "out.dng", "--raw", "mosaic", "-d", "cpu"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("from the file's noise profile"));
  EXPECT_LT(error_of(folder / "out.dng"), 0.5 * error_of(in));
  const auto bytes = read_file(folder / "out.dng");
  const std::vector<double> left = io::noise_profile_of(io::read_tiff_tree(bytes));
  ASSERT_EQ(left.size(), 6u);
  EXPECT_LT(left[0], 0.5 * noise.gain);
  EXPECT_GT(left[0], 0);
}

TEST(RawPhotographs, NoiseIsEstimatedWithoutAProfile) {
  const Folder folder;
  const std::string in = write_photo(folder, "in.dng");
  const Outcome run = run_lull({in, folder / "out.dng", "-d", "cpu"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("estimated"));
  EXPECT_THAT(folder.names(), ::testing::ElementsAre("in.dng", "out.dng"));
}

TEST(RawPhotographs, SequenceIsFilteredOverTimeAndKeepsItsTags) {
  const Folder folder;
  for (unsigned i = 1; i <= 4; ++i)
    write_photo(folder, "a" + std::to_string(i) + ".dng",
                {.place = MosaicPlace::first,
                 .noise_profile = {noise.gain, noise.offset},
                 .change =
                     [i](io::TiffTree& tree, io::TiffDirectory& first) {
                       first.set(tree.text(51081, "reel " + std::to_string(i)));
                     }},
                i);
  const auto denoise = [&](const std::string& out, const char* radius) {
    return run_lull({folder / "a%d.dng", folder / out, "--raw", "mosaic", "--temporal", radius,
                     "-d", "cpu", "-y"});
  };
  const Outcome alone = denoise("b%d.dng", "0"), over_time = denoise("c%d.dng", "2");
  ASSERT_EQ(alone.code, 0) << alone.err;
  ASSERT_EQ(over_time.code, 0) << over_time.err;
  EXPECT_LT(error_of(folder / "c2.dng"), 0.9 * error_of(folder / "b2.dng"));
  for (int i = 1; i <= 4; ++i) {
    const auto bytes = read_file(folder / ("c" + std::to_string(i) + ".dng"));
    const io::TiffTree tags = io::read_tiff_tree(bytes);
    const io::TiffEntry* reel = tags.first.find(51081);
    ASSERT_TRUE(reel);
    EXPECT_EQ(std::string(reel->bytes.begin(), reel->bytes.end() - 1), "reel " + std::to_string(i));
  }
}

TEST(RawPhotographs, MissingNumbersOfASequenceAreListed) {
  const Folder folder;
  for (const char* name : {"a1.dng", "a2.dng", "a5.dng"}) write_photo(folder, name);
  const Outcome run = run_lull({folder / "a%d.dng", folder / "b%d.dng", "-d", "cpu"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("the sequence has no number 3-4;"));
  const Outcome matches = run_lull({folder / "a*.dng", folder / "c*.dng", "-d", "cpu"});
  ASSERT_EQ(matches.code, 0) << matches.err;
  EXPECT_THAT(matches.err, Not(HasSubstr("has no number")));
}

TEST(RawPhotographs, NameOfASinglePhotographIsNoPattern) {
  const Folder folder;
  const std::string in = write_photo(folder, "in.dng");
  const Outcome run = run_lull({in, folder / "out_%04d.dng", "-d", "cpu"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(folder.names(), ::testing::ElementsAre("in.dng", "out_%04d.dng"));
}

TEST(RawPhotographs, BurstGivesTheKeptPhotograph) {
  const Folder folder;
  for (unsigned i = 0; i < 4; ++i)
    write_photo(folder, "a" + std::to_string(i) + ".dng",
                {.noise_profile = {noise.gain, noise.offset}}, i + 1);
  const Outcome run = run_lull({folder / "a*.dng", folder / "one.dng", "--align", "--keep", "1",
                                "--raw", "mosaic", "-d", "cpu"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_LT(error_of(folder / "one.dng"), 0.4 * error_of(folder / "a1.dng"));
  EXPECT_EQ(folder.names().size(), 5u);
}

TEST(RawPhotographs, DevelopedPicturesAreWritten) {
  const Folder folder;
  const std::string in = write_photo(folder, "in.dng");
  for (const char* name : {"out.tif", "out.png", "out.exr"}) {
    const Outcome run = run_lull({in, folder / name, "-d", "cpu"});
    EXPECT_EQ(run.code, 0) << run.err;
    const Outcome probe = run_lull({"probe", folder / name});
    EXPECT_EQ(probe.code, 0) << probe.err;
    EXPECT_THAT(probe.out + probe.err, HasSubstr("208x160"));
  }
}

TEST(RawPhotographs, StrictMetadataRefusesLosses) {
  const Folder folder;
  const std::string in = write_photo(folder, "in.dng");
  const Outcome run = run_lull({in, folder / "out.exr", "--strict-metadata", "-d", "cpu"});
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("--strict-metadata: not in the output: the metadata"));
  EXPECT_THAT(folder.names(), ::testing::ElementsAre("in.dng"));
  const Outcome kept = run_lull({in, folder / "out.tif", "--strict-metadata", "-d", "cpu"});
  EXPECT_EQ(kept.code, 0) << kept.err;
}

TEST(RawPhotographs, ErrorsHaveOneLineAndLeaveNoFile) {
  const Folder folder;
  const std::string in = write_photo(folder, "in.dng");
  write_file(folder / "bad.dng", {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0});
  write_photo(folder, "xtrans.dng", {.change = [](io::TiffTree& tree, io::TiffDirectory& raw) {
                raw.set(tree.shorts(33421, {4, 4}));
              }});
  const std::string out = folder / "out.dng";
  const std::vector<std::pair<std::vector<std::string>, int>> cases = {
      {{in, out, "--sigma", "5"}, 2},
      {{in, folder / "out.jpg"}, 2},
      {{in, out, "--report", folder / "page.html"}, 2},
      {{in, out, "--scale", "2"}, 2},
      {{in, out, "--align"}, 2},
      {{in, out, "--keep", "3"}, 2},
      {{in, in, "-y"}, 2},
      {{folder / "picture.png", out, "--raw", "mosaic"}, 2},
      {{folder / "missing.dng", out}, 66},
      {{folder / "bad.dng", out}, 65},
      {{folder / "xtrans.dng", out}, 65}};
  for (const auto& [arguments, code] : cases) {
    const Outcome run = run_lull(arguments);
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_EQ(run.error_lines(), 1) << run.err;
  }
  EXPECT_EQ(folder.names().size(), 3u);
}

TEST(RawPhotographs, OptionsWithoutEffectAreRejected) {
  const Folder folder;
  const std::string in = write_photo(folder, "in.dng");
  for (const auto& [option, value] : {std::pair{"--bits", "8"},
                                      {"--dither", "ordered"},
                                      {"--pix-fmt", "rgb24"},
                                      {"--vcodec", "png"},
                                      {"--crf", "3"},
                                      {"--vopts", "pred=none"},
                                      {"--output-format", "nut"},
                                      {"--noise", "poisson"},
                                      {"--noise", "rician"},
                                      {"--noise-map", "map.nii"},
                                      {"--datatype", "float32"},
                                      {"--series", "each"},
                                      {"--axis", "x"},
                                      {"--white", "4"},
                                      {"--layer", "diffuse"},
                                      {"--repair", "off"}}) {
    const Outcome run = run_lull({in, folder / "out.png", option, value, "-d", "cpu"});
    EXPECT_EQ(run.code, 2) << option << " " << run.err;
    EXPECT_EQ(run.error_lines(), 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr(option));
  }
  EXPECT_THAT(folder.names(), ::testing::ElementsAre("in.dng"));
}

TEST(RawPhotographs, OutputsAreRejectedBeforeTheNoiseIsEstimated) {
  const Folder folder;
  const std::string in = write_photo(folder, "in0.dng");
  write_photo(folder, "in1.dng", {}, 2);
  write_bytes(folder / "there.dng", "before");
  write_bytes(folder / "o1.dng", "before");
  const std::string both = folder / "in%d.dng";
  for (const auto& [from, to, code, message] :
       {std::tuple{in, "there.dng", 73, "exists; give -y to overwrite it"},
        {in, "none/out.dng", 73, "cannot create"},
        {in, "out.mp4", 2, "is written as DNG"},
        {both, "o%d.dng", 73, "exists; give -y to overwrite it"},
        {both, "none/o%d.dng", 73, "cannot create"}}) {
    const Outcome run = run_lull({from, folder / to, "--noise", "auto", "-d", "cpu"});
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_THAT(run.err, HasSubstr(message));
    EXPECT_THAT(run.err, Not(HasSubstr("noise: ")));
  }
  EXPECT_EQ(bytes_of(folder / "there.dng"), "before");
}

TEST(RawPhotographs, ExistingOutputsAreKept) {
  const Folder folder;
  const std::string in = write_photo(folder, "in.dng");
  write_file(folder / "out.dng", {1, 2, 3});
  EXPECT_EQ(run_lull({in, folder / "out.dng"}).code, 73);
  EXPECT_EQ(read_file(folder / "out.dng").size(), 3u);
}

}  // namespace
}  // namespace lull::tools
