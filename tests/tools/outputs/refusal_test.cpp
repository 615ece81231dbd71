// Tests that lull denoise rejects outputs before it estimates the noise of the input. The estimated
// noise is a line on standard error, so this line must not precede the rejection.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "io/dicom/dicom_series.h"
#include "io/support/tiff_pages.h"
#include "io/support/volumes.h"
#include "tools/support/clips.h"
#include "tools/support/exr.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

constexpr int exists = 73, usage = 2;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class EarlyRefusals : public ::testing::Test {
 protected:
  void SetUp() override { write_bytes(folder_ / "there", "before"); }

  Outcome denoise(const std::string& in, const std::string& out, const Words& more) const {
    Words words{"denoise",  "-i",  folder_ / in, "-o",  folder_ / out,
                "--device", "cpu", "--noise",    "auto"};
    words.insert(words.end(), more.begin(), more.end());
    return run_lull(words);
  }
  void expect_refusal(const std::string& in, const std::string& out, int code,
                      const std::string& message, const Words& more = {}) const {
    SCOPED_TRACE(in + " -> " + out + " " + testing::PrintToString(more));
    const Outcome outcome = denoise(in, out, more);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(outcome.err, Not(HasSubstr("noise: ")));
    EXPECT_EQ(bytes_of(folder_ / "there"), "before");
  }
  /// Expects that the output `name` is rejected if it exists, or if its folder does not exist.
  void expect_new_file(const std::string& in, const std::string& name,
                       const Words& more = {}) const {
    fs::rename(folder_ / "there", folder_ / name);
    fs::create_symlink(name, folder_ / "there");
    expect_refusal(in, name, exists, "exists; give -y to overwrite it", more);
    fs::remove(folder_ / "there");
    fs::rename(folder_ / name, folder_ / "there");
    expect_refusal(in, "none/" + name, exists, "cannot create", more);
    expect_refusal(in, "none/" + name, exists, "cannot create", more + Words{"-y"});
  }
  /// Expects the same of a second output, which `option` names.
  void expect_new_side_file(const std::string& in, const std::string& out,
                            const std::string& option, const std::string& name,
                            const Words& more = {}) const {
    fs::rename(folder_ / "there", folder_ / name);
    fs::create_symlink(name, folder_ / "there");
    expect_refusal(in, out, exists, "exists; give -y", more + Words{option, folder_ / name});
    fs::remove(folder_ / "there");
    fs::rename(folder_ / name, folder_ / "there");
    expect_refusal(in, out, exists, "cannot create",
                   more + Words{option, folder_ / ("none/" + name)});
  }
  /// Expects that the noise of the input is estimated if nothing is wrong with the output.
  void expect_noise(const std::string& in, const std::string& out, const Words& more = {}) const {
    const Outcome outcome = denoise(in, out, more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("noise: "));
  }

  void write_clip() const {
    const FrameFormat yuv{
        .width = 64, .height = 48, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
    std::vector<Frame> frames;
    for (int i = 0; i < 8; ++i)
      frames.push_back(noisy_picture(clean_picture(yuv, 0.1 * i), 8, 1 + static_cast<unsigned>(i)));
    write_y4m(folder_ / "in.y4m", frames);
  }
  void write_pictures() const {
    for (int i = 0; i < 4; ++i)
      write_pnm(folder_ / ("p" + std::to_string(i) + ".pgm"),
                noisy_picture(clean_picture({.width = 64, .height = 48}), 8,
                              1 + static_cast<unsigned>(i)));
  }
  /// Writes a volume of 8-bit voxels with noise. Each number of `size` is the length of an axis.
  void write_volume(const std::string& name, const std::vector<std::int64_t>& size) const {
    std::int64_t voxels = 1;
    for (const std::int64_t length : size) voxels *= length;
    std::mt19937 rng{5};
    std::normal_distribution<double> noise{100, 9};
    io::test::File samples;
    for (std::int64_t i = 0; i < voxels; ++i)
      samples.push_back(static_cast<std::uint8_t>(noise(rng)));
    const auto file = io::test::volume({.dim = size, .datatype = 2, .bitpix = 8}, samples);
    write_bytes(folder_ / name, {file.begin(), file.end()});
  }

  Folder folder_;
};

TEST_F(EarlyRefusals, OfVideo) {
  write_clip();
  expect_new_file("in.y4m", "out.mkv");
  expect_refusal("in.y4m", "out.xyz", usage, "out.xyz");
  expect_refusal("in.y4m", "out.nii", usage, "can only be made of a volume");
  for (const std::string option : {"--grain-table", "--report"})
    expect_new_side_file("in.y4m", "out.mkv", option, "side");
  for (const std::string option : {"--log-file", "--metrics-file"})  // existing files are continued
    expect_refusal("in.y4m", "out.mkv", exists, "No such file", {option, folder_ / "none/side"});
  expect_noise("in.y4m", "out.mkv");
}

TEST_F(EarlyRefusals, OfVideoInSegments) {
  write_clip();
  const Words segments{"--segment-frames", "4"};
  expect_new_file("in.y4m", "out.mkv", segments);
  expect_new_file("in.y4m", "out.mkv", segments + Words{"--resume"});
  expect_refusal("in.y4m", "out.xyz", usage, "out.xyz", segments);
  expect_refusal("in.y4m", "out.png", usage, "a still picture", segments);
  EXPECT_FALSE(fs::exists(folder_ / "out.mkv.lull-job"));
  const Words planned{"plan",
                      folder_ / "in.y4m",
                      folder_ / "there",
                      "--segment-frames",
                      "4",
                      "--job",
                      folder_ / "job",
                      "--device",
                      "cpu",
                      "--noise",
                      "auto",
                      "--output-format",
                      "matroska"};
  const Outcome plan = run_lull(planned);
  EXPECT_EQ(plan.code, exists) << plan.err;
  EXPECT_THAT(plan.err, Not(HasSubstr("noise: ")));
}

TEST_F(EarlyRefusals, OfAnInterruptedJob) {
  write_clip();
  const Words command{"denoise",  "-i",  folder_ / "in.y4m", "-o", folder_ / "out.mkv",
                      "--device", "cpu", "--segment-frames", "2"};
  (void)killed_in_job(command, folder_ / "out.mkv");
  const auto record = bytes_of(folder_ / "out.mkv.lull-job/manifest");
  expect_refusal("in.y4m", "out.mkv", exists, "of an interrupted job", {"--segment-frames", "2"});
  write_bytes(folder_ / "out.mkv", "another file");
  expect_refusal("in.y4m", "out.mkv", exists, "exists; give -y",
                 {"--segment-frames", "2", "--resume"});
  EXPECT_EQ(bytes_of(folder_ / "out.mkv.lull-job/manifest"), record);
  fs::remove(folder_ / "out.mkv");
  expect_noise("in.y4m", "out.mkv", {"--segment-frames", "2", "--resume"});
}

TEST_F(EarlyRefusals, OfKeptGrain) {
  write_clip();
  const Words grain{"--grain", "keep", "--vcodec", "libaom-av1"};
  expect_new_file("in.y4m", "out.mkv", grain);
  expect_refusal("in.y4m", "out.xyz", usage, "out.xyz", grain);
}

TEST_F(EarlyRefusals, OfStills) {
  write_pictures();
  expect_new_file("p0.pgm", "out.png");
  expect_new_file("p0.pgm", "out.tif");
  expect_refusal("p0.pgm", "out.xyz", usage, "out.xyz");
  expect_noise("p0.pgm", "out.png");
}

TEST_F(EarlyRefusals, OfSequencesAndBursts) {
  write_pictures();
  write_bytes(folder_ / "q2.png", "before");
  expect_refusal("p%d.pgm", "q%d.png", exists, "q2.png' exists; give -y");
  expect_refusal("p%d.pgm", "none/q%d.png", exists, "no such folder");
  expect_refusal("p%d.pgm", "q%d.xyz", usage, "xyz");
  const Words burst{"--align", "--keep", "1"};
  expect_new_file("p%d.pgm", "out.png", burst);
  expect_noise("p%d.pgm", "q%d.png", {"-y"});
}

TEST_F(EarlyRefusals, OfRenders) {
  std::mt19937 rng{1};
  std::normal_distribution<float> noise{0.4f, 0.05f};
  ExrPart part{.width = 64, .height = 48};
  for (const std::string name : {"R", "G", "B"}) {
    for (int i = 0; i < 64 * 48; ++i) part.channels[name].samples.push_back(noise(rng));
    part.channels[name].type = Imf::FLOAT;
  }
  write_exr_parts(folder_ / "in.exr", {part});
  expect_new_file("in.exr", "out.exr");
  expect_refusal("in.exr", "out.xyz", usage, "out.xyz");
  expect_noise("in.exr", "out.exr");
}

TEST_F(EarlyRefusals, OfVolumes) {
  write_volume("in.nii", {32, 28, 16});
  for (const std::string name : {"out.nii", "out.nii.gz", "out.nrrd", "out.mgh", "out.hdr"})
    expect_new_file("in.nii", name);
  for (const std::string name : {"out.mp4", "out.tif", "out.xyz"})
    expect_refusal("in.nii", name, usage, "cannot be made of a volume");
  for (const std::string option : {"--residuals", "--noise-map"})
    expect_new_side_file("in.nii", "out.nii", option, "side.nii");
  expect_refusal("in.nii", "out.nii", usage, "cannot be made of a volume",
                 {"--noise-map", folder_ / "map.png"});
  expect_noise("in.nii", "out.nii", {"--noise-map", folder_ / "map.nii"});
}

TEST_F(EarlyRefusals, OfSeriesOfVolumes) {
  write_volume("in.nii", {16, 14, 8, 12});
  expect_new_file("in.nii", "out.nii");
  expect_refusal("in.nii", "out.mp4", usage, "cannot be made of a volume");
  // The copies of the gradient files are outputs, too.
  write_bytes(folder_ / "in.bval", "0 1 2 3 4 5 6 7 8 9 10 11");
  write_bytes(folder_ / "out.bval", "other");
  expect_refusal("in.nii", "out.nii", exists, "out.bval' exists; give -y");
  expect_noise("in.nii", "out.nii", {"-y"});
}

TEST_F(EarlyRefusals, OfStacks) {
  io::test::StackSpec spec{.width = 48, .height = 40, .pages = 10};
  io::test::make_stack(folder_ / "in.tif", spec);
  expect_new_file("in.tif", "out.tif");
  for (const std::string name : {"out.mp4", "out.xyz", "out.nii", "out%d.tif"})
    expect_refusal("in.tif", name, usage, "out");
  expect_noise("in.tif", "out.tif");
}

#ifdef LULL_DICOM
TEST_F(EarlyRefusals, OfDicomSeries) {
  fs::create_directory(folder_ / "series");
  std::mt19937 rng{5};
  std::normal_distribution<double> noise{1000, 90};
  for (int i = 0; i < 12; ++i) {
    io::test::DicomSpec spec{.uid = std::to_string(i + 1),
                             .instance = std::to_string(i + 1),
                             .position = "0\\0\\" + std::to_string(2.5 * i),
                             .orientation = "1\\0\\0\\0\\1\\0",
                             .columns = 32,
                             .rows = 28};
    for (int k = 0; k < 32 * 28; ++k) spec.samples.push_back(static_cast<int>(noise(rng)));
    const auto file = io::test::dicom_file(spec);
    write_bytes(folder_ / ("series/" + std::to_string(i)), {file.begin(), file.end()});
  }
  expect_new_file("series", "out.nii");
  expect_refusal("series", "out.mp4", usage, "cannot be made of a volume");
  fs::create_directory(folder_ / "out");
  write_bytes(folder_ / "out/note", "text");
  expect_refusal("series", "out/", exists, "exists and has other contents");
  expect_refusal("series", "none/out/", exists, "cannot create");
  expect_refusal("series", "one.dcm", usage, "is one file");
  expect_noise("series", "result/");
}
#endif

}  // namespace
}  // namespace lull::tools
