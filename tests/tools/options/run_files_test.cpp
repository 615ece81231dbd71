// Tests that no output may replace an input or another output.

#include "tools/options/run_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "core/error.h"
#include "tools/options/given.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class RunFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"in.mkv", "noise.json", "mask.nii", "guide.mkv", "albedo.exr",
                             "clean.mkv", "s1.png", "s2.png", "g7.png"})
      write_bytes(folder_ / name, name);
    options_.input.file = folder_ / "in.mkv";
    options_.output.file = folder_ / "out.mkv";
  }
  std::string error() const {
    try {
      files_of(options_).check();
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "none";
  }
  Folder folder_;
  DenoiseOptions options_;
};

struct Output {
  const char* name;
  void (*set)(DenoiseOptions&, const std::string&);
};
const Output outputs[] = {
    {"-o", [](DenoiseOptions& o, const std::string& v) { o.output.file = v; }},
    {"--log-file", [](DenoiseOptions& o, const std::string& v) { o.run.log.file = v; }},
    {"--metrics-file",
     [](DenoiseOptions& o, const std::string& v) { o.run.progress.metrics_file = v; }},
    {"--report", [](DenoiseOptions& o, const std::string& v) { o.run.page.file = v; }},
    {"--grain-table", [](DenoiseOptions& o, const std::string& v) { o.output.grain_table = v; }},
    {"--noise-map", [](DenoiseOptions& o, const std::string& v) { o.noise.map = v; }}};

TEST_F(RunFiles, OutputsMayNotBeInputs) {
  options_.noise.file = folder_ / "noise.json";
  options_.input.mask = folder_ / "mask.nii";
  options_.method.guide = folder_ / "guide.mkv";
  options_.method.features = {{Feature::albedo, {}, folder_ / "albedo.exr"}};
  options_.run.page.reference = folder_ / "clean.mkv";
  ASSERT_EQ(error(), "none");
  const std::pair<const char*, const char*> inputs[] = {
      {"in.mkv", "the input"},  {"noise.json", "--noise"},          {"mask.nii", "--mask"},
      {"guide.mkv", "--guide"}, {"albedo.exr", "--feature albedo"}, {"clean.mkv", "--reference"}};
  const DenoiseOptions before = options_;
  for (const Output& output : outputs)
    for (const auto& [file, what] : inputs) {
      options_ = before;
      output.set(options_, folder_ / file);
      EXPECT_THAT(error(), AllOf(HasSubstr(output.name), HasSubstr("is another file of this run"),
                                 HasSubstr(what)));
      // The output is a symbolic or a hard link to the other file.
      fs::remove(folder_ / "link");
      fs::create_symlink(folder_ / file, folder_ / "link");
      output.set(options_, folder_ / "link");
      EXPECT_THAT(error(), HasSubstr(what)) << output.name;
      fs::remove(folder_ / "link");
      fs::create_hard_link(folder_ / file, folder_ / "link");
      EXPECT_THAT(error(), HasSubstr(what)) << output.name;
    }
}

TEST_F(RunFiles, OutputsMustDiffer) {
  for (const Output& one : outputs)
    for (const Output& other : outputs) {
      if (&one == &other) continue;
      options_ = {};
      options_.input.file = folder_ / "in.mkv";
      options_.output.file = folder_ / "out.mkv";
      one.set(options_, folder_ / "new");  // it does not exist
      other.set(options_, folder_ / "." + "/new");
      EXPECT_THAT(error(), HasSubstr("another file of this run")) << one.name << " " << other.name;
    }
}

TEST_F(RunFiles, SequencesStandForTheirPictures) {
  options_.input.file = folder_ / "s%d.png";
  for (const char* name : {"s1.png", "s2.png"}) {
    options_.run.progress.metrics_file = folder_ / name;
    EXPECT_THAT(error(), HasSubstr("the input"));
  }
  options_.run.progress.metrics_file = folder_ / "s3.png";
  EXPECT_EQ(error(), "none");
  // The output's numbers are those of the input.
  options_.run.progress.metrics_file = folder_ / "g2.png";
  options_.output.file = folder_ / "g%d.png";
  EXPECT_THAT(error(), HasSubstr("--metrics-file"));
  options_.run.progress.metrics_file = folder_ / "g3.png";
  EXPECT_EQ(error(), "none");
  options_.method.guide = folder_ / "g7.png";
  EXPECT_EQ(error(), "none");
}

TEST_F(RunFiles, SequenceOfUnknownLengthReservesAllNamesOfItsPattern) {
  options_.output.file = folder_ / "g%d.png";
  EXPECT_EQ(error(), "none");
  options_.input.mask = folder_ / "g7.png";
  EXPECT_THAT(error(), AllOf(HasSubstr("-o"), HasSubstr("--mask")));
  options_.input.mask.clear();
  options_.run.log.file = folder_ / "g99.png";
  EXPECT_THAT(error(), HasSubstr("--log-file"));
  options_.run.log.file = folder_ / "g.png";
  EXPECT_EQ(error(), "none");
  // A link whose name fits the pattern leads to an input.
  fs::create_symlink(folder_ / "in.mkv", folder_ / "g8.png");
  EXPECT_THAT(error(), HasSubstr("the input"));
}

TEST_F(RunFiles, JobFilesMayNotBeOutputs) {
  fs::create_directories(folder_ / "out.mkv.lull-job");
  write_bytes(folder_ / "out.mkv.lull-job/manifest", "x");
  options_.run.segment_frames = 9;
  EXPECT_EQ(error(), "none");
  for (const char* name : {"manifest", "lock", "000003.lullseg"}) {
    options_.run.log.file = folder_ / "out.mkv.lull-job/" + name;
    EXPECT_THAT(error(), HasSubstr("a file of the job in")) << name;
  }
  options_.run.log.file = folder_ / "out.mkv.lull-job/run.log";
  EXPECT_EQ(error(), "none");
  fs::create_hard_link(folder_ / "out.mkv.lull-job/manifest", folder_ / "hard");
  options_.run.log.file = folder_ / "hard";
  EXPECT_THAT(error(), HasSubstr("a file of the job in"));
}

TEST_F(RunFiles, GradientsBelongToTheirVolumes) {
  for (const char* name : {"dwi.nii", "dwi.bval"}) write_bytes(folder_ / name, "x");
  options_.input.file = folder_ / "dwi.nii";
  options_.output.file = folder_ / "new.nii.gz";
  EXPECT_EQ(error(), "none");
  for (const char* name : {"dwi.bval", "new.bval"}) {
    options_.run.page.file = folder_ / name;
    EXPECT_THAT(error(), HasSubstr("--report")) << name;
  }
  options_.run.page.file = folder_ / "new.bvec";  // none is copied
  EXPECT_EQ(error(), "none");
  options_.output.file = folder_ / "dwi.nii.gz";  // has the gradients already
  EXPECT_EQ(error(), "none");
}

TEST_F(RunFiles, OpenFilesStandForTheirNames) {
  const int descriptor = ::open((folder_ / "in.mkv").c_str(), O_RDWR);
  options_.run.progress.descriptor = descriptor;
  EXPECT_THAT(error(), AllOf(HasSubstr("--progress-fd"), HasSubstr("the input")));
  options_.run.progress.descriptor = STDERR_FILENO;
  const int before = ::dup(STDIN_FILENO);
  ::dup2(descriptor, STDIN_FILENO);
  options_.input.file = "-";
  options_.run.log.file = folder_ / "in.mkv";
  EXPECT_THAT(error(), AllOf(HasSubstr("--log-file"), HasSubstr("the input")));
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  ::close(descriptor);
}

TEST_F(RunFiles, PipesAndDevicesMayBeUsedTwice) {
  options_.run.log.file = "/dev/stderr";
  options_.run.page.reference = "/dev/null";
  options_.run.page.file = "/dev/null";
  options_.output.file = "null";
  EXPECT_EQ(error(), "none");
}

TEST_F(RunFiles, InputsLimitWhoMayReadTheResult) {
  const auto mode = [&] { return files_of(options_).access().mode; };
  for (const char* name : {"in.mkv", "guide.mkv", "noise.json"})
    fs::permissions(folder_ / name, fs::perms(0644));
  options_.method.guide = folder_ / "guide.mkv";
  options_.noise.file = folder_ / "noise.json";
  EXPECT_EQ(mode(), 0644u);
  fs::permissions(folder_ / "noise.json", fs::perms(0600));  // holds no samples
  EXPECT_EQ(mode(), 0644u);
  fs::permissions(folder_ / "guide.mkv", fs::perms(0640));
  EXPECT_EQ(mode(), 0640u);
  fs::permissions(folder_ / "in.mkv", fs::perms(0600));
  EXPECT_EQ(mode(), 0600u);
}

}  // namespace
}  // namespace lull::tools
