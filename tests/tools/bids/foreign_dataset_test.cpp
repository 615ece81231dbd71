// Tests datasets that other people have written: an error in one file is reported for its image and
// does not stop the other images, and no file outside the derivative is changed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "io/support/volumes.h"
#include "tools/report/json.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

std::string image(int volumes, int side = 16, int slices = 10) {
  std::vector<std::uint8_t> voxels;
  for (int z = 0; z < slices * volumes; ++z) {
    const Frame slice = noisy_picture(clean_picture({.width = side, .height = side}), 10, z + 1);
    for (int y = 0; y < side; ++y)
      voxels.insert(voxels.end(), slice.plane<std::uint8_t>(0).row(y),
                    slice.plane<std::uint8_t>(0).row(y) + side);
  }
  io::test::VolumeSpec spec{.dim = {side, side, slices}, .datatype = 2, .bitpix = 8};
  if (volumes > 1) spec.dim = {side, side, slices, volumes};
  const auto file = io::test::volume(spec, voxels);
  return {file.begin(), file.end()};
}

/// A dataset with two participants. A test damages a file of the first one; the second one must be
/// processed nevertheless.
class ForeignDataset : public ::testing::Test {
 protected:
  void SetUp() override {
    put("dataset_description.json", R"({"Name": "x", "BIDSVersion": "1.8.0"})");
    put("sub-01/anat/sub-01_T1w.nii", image(1));
    put("sub-02/dwi/sub-02_dwi.nii", image(2));
    put("sub-02/dwi/sub-02_dwi.bval", "0 1000\n");
    put("sub-02/dwi/sub-02_dwi.bvec", "0 1\n0 0\n0 0\n");
    write_bytes(victim_, "precious");
  }
  void put(const std::string& name, const std::string& bytes) const {
    const fs::path path = raw_ + "/" + name;
    fs::create_directories(path.parent_path());
    write_bytes(path.string(), bytes);
  }
  Words command(const Words& more = {}) const {
    Words all{"bids", raw_,      out_, "participant", "--device",
              "cpu",  "--sigma", "10", "--profile",   "fast"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// Expects that sub-01 fails with this code and message, and that sub-02 is processed.
  void expect_failure_of_one(int code, const std::string& text) const {
    fs::remove_all(out_);
    const Outcome outcome = Program(command()).wait(60s);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(text), HasSubstr("1 of 2 images denoised, 1 failed")));
    // The command fails before it denoises the image.
    EXPECT_FALSE(fs::exists(out_ + "/" + t1_ + ".nii"));
    EXPECT_TRUE(fs::exists(out_ + "/" + dwi_ + ".json"));
  }

  Folder folder_;
  const std::string raw_ = folder_ / "raw", out_ = folder_ / "out", victim_ = folder_ / "victim";
  const std::string t1_ = "sub-01/anat/sub-01_desc-denoised_T1w";
  const std::string dwi_ = "sub-02/dwi/sub-02_desc-denoised_dwi";
  const std::string sidecar_ = "sub-01/anat/sub-01_T1w.json";
};

TEST_F(ForeignDataset, DeepSidecarFailsItsImageOnly) {
  for (const std::size_t depth : {100u, 10000u, 200000u}) {
    put(sidecar_, "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}");
    expect_failure_of_one(65, "is not a JSON object (with 64 levels at most)");
  }
  // The JSON file has the maximum accepted nesting, with many values. The copy must not be much
  // longer.
  std::string values = "1";
  for (int i = 0; i < 50000; ++i) values += ",1";
  put(sidecar_, "{\"a\":" + std::string(60, '[') + values + std::string(60, ']') + "}");
  ASSERT_EQ(run_lull(command({"-y"})).code, 0);
  EXPECT_LT(fs::file_size(out_ + "/" + t1_ + ".json"), 200000u);
}

TEST_F(ForeignDataset, LargeSidecarFailsItsImageOnly) {
  put(sidecar_, "{\"a\":1}");
  fs::resize_file(raw_ + "/" + sidecar_, std::uintmax_t{1} << 36);
  expect_failure_of_one(65, "is too large");
}

TEST_F(ForeignDataset, PipesAndDevicesFailTheirImageOnly) {
  const std::string pipe = raw_ + "/" + sidecar_;
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_failure_of_one(66, "it is a pipe");
  fs::remove(pipe);
  fs::create_symlink("/dev/zero", pipe);
  expect_failure_of_one(66, "it is a device");
  fs::remove(pipe);
  ASSERT_EQ(::mkfifo((raw_ + "/sub-01/anat/sub-01_T1w.bval").c_str(), 0600), 0);
  expect_failure_of_one(66, "it is a pipe");
  fs::remove(raw_ + "/sub-01/anat/sub-01_T1w.bval");
  fs::remove(raw_ + "/sub-01/anat/sub-01_T1w.nii");
  ASSERT_EQ(::mkfifo((raw_ + "/sub-01/anat/sub-01_T1w.nii").c_str(), 0600), 0);
  expect_failure_of_one(66, "not a regular file");
  fs::remove(raw_ + "/dataset_description.json");
  ASSERT_EQ(::mkfifo((raw_ + "/dataset_description.json").c_str(), 0600), 0);
  EXPECT_EQ(Program(command()).wait(60s).code, 66);
}

TEST_F(ForeignDataset, FoldersThatCannotBeReadAreFailures) {
  fs::create_directory_symlink("func", raw_ + "/sub-01/func");  // a link to itself
  fs::remove_all(raw_ + "/sub-01/anat");
  expect_failure_of_one(66, "sub-01: cannot read the folder '" + raw_ + "/sub-01/func'");
  fs::remove(raw_ + "/sub-01/func");
  fs::create_directory_symlink("absent", raw_ + "/sub-01/func");  // not fetched by DataLad
  const Outcome outcome = run_lull(command({"-y"}));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("sub-01 has no image to denoise"));
}

// A quadratic comparison of a hundred thousand members would take minutes.
TEST_F(ForeignDataset, ManyMembersAreReadInLinearTime) {
  for (const std::string& name : {std::string("T1w.json"), sidecar_}) {
    std::string text = "{";
    for (int i = 0; i < 100000; ++i)
      text += (i > 0 ? ",\"" : "\"") + name.substr(0, 3) + std::to_string(i) + "\":1";
    put(name, text + "}");
  }
  const Outcome outcome = Program(command({"--participant-label", "01"})).wait(30s);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::optional<Json> merged = parse_json(bytes_of(out_ + "/" + t1_ + ".json"));
  ASSERT_TRUE(merged);
  EXPECT_GT(merged->size(), 200000u);
  EXPECT_EQ(merged->value("sub99999", 0), 1);
}

TEST_F(ForeignDataset, NamesThatAreNotUtf8AreProcessed) {
  put("sub-\xff/anat/sub-\xff_T1w.nii", image(1));
  put("sub-\xff/anat/sub-\xff_T1w.json", "{\"a\":1}");
  const Outcome outcome = run_lull(command());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(bytes_of(out_ + "/sub-\xff/anat/sub-\xff_desc-denoised_T1w.json"));
  EXPECT_EQ(json["Sources"][0], "bids:raw:sub-%FF/anat/sub-%FF_T1w.nii");
  EXPECT_EQ(json["a"], 1);
}

TEST_F(ForeignDataset, DescriptionsOfWrongTypesDoNoHarm) {
  for (const std::string made_by :
       {R"([{"Name":1}])", R"([1,null,[]])", R"("lull")", R"({"Name":"lull"})", "null"}) {
    fs::create_directories(out_);
    write_bytes(out_ + "/dataset_description.json", "{\"GeneratedBy\":" + made_by + "}");
    const Outcome outcome = run_lull(command());
    EXPECT_EQ(outcome.code, 73) << made_by << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("holds another dataset"));
  }
  for (const std::string member : {"\"Name\":1", "\"License\":[1]", "\"DatasetDOI\":{}"}) {
    fs::remove_all(out_);
    put("dataset_description.json", "{" + member + "}");
    EXPECT_EQ(run_lull(command({"--participant-label", "01"})).code, 0) << member;
  }
}

TEST_F(ForeignDataset, DoesNotWriteThroughLinks) {
  ASSERT_EQ(run_lull(command({"--participant-label", "02"})).code, 0);
  fs::create_directories(out_ + "/sub-01/anat");
  for (const std::string extension : {".json", ".nii", ".bval", ".bvec"})
    for (const std::string& target : {victim_, folder_ / "new"}) {
      SCOPED_TRACE(extension + target);
      fs::create_symlink(target, out_ + "/" + t1_ + extension);
      const Outcome outcome = run_lull(command({"--participant-label", "01"}));
      EXPECT_EQ(outcome.code, 73) << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr("is a link"));
      fs::remove(out_ + "/" + t1_ + extension);
    }
  // The link is replaced; its target stays.
  fs::create_symlink(victim_, out_ + "/" + t1_ + ".json");
  EXPECT_EQ(run_lull(command({"--participant-label", "01", "-y"})).code, 0);
  EXPECT_FALSE(fs::is_symlink(out_ + "/" + t1_ + ".json"));
  // The link leads to a folder outside of the derivative.
  fs::remove_all(out_ + "/sub-01");
  fs::create_directories(folder_ / "else/anat");
  write_bytes(folder_ / "else/anat/sub-01_desc-denoised_T1w.json", "precious");
  fs::create_directory_symlink(folder_ / "else", out_ + "/sub-01");
  EXPECT_EQ(run_lull(command({"--participant-label", "01"})).code, 73);
  EXPECT_EQ(bytes_of(folder_ / "else/anat/sub-01_desc-denoised_T1w.json"), "precious");
  // The link has the name of a file that the command adds to each derivative.
  fs::remove_all(out_);
  fs::create_directories(out_);
  fs::create_symlink(folder_ / "new", out_ + "/README.md");
  EXPECT_EQ(run_lull(command()).code, 73);
  EXPECT_FALSE(fs::exists(folder_ / "new"));
  EXPECT_EQ(bytes_of(victim_), "precious");
}

TEST_F(ForeignDataset, WarnsAboutLinksThatLeaveTheDataset) {
  fs::create_symlink(raw_ + "/sub-02/dwi/sub-02_dwi.bval", raw_ + "/sub-01/anat/sub-01_T1w.bval");
  EXPECT_THAT(run_lull(command()).err, Not(HasSubstr("leads out")));
  write_bytes(folder_ / "secret.json", "{\"a\":1}");
  fs::create_symlink(folder_ / "secret.json", raw_ + "/" + sidecar_);
  fs::remove_all(out_);
  const Outcome outcome = run_lull(command());
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err,
              HasSubstr("warning: '" + raw_ + "/" + sidecar_ + "' leads out of the dataset, to '"));
}

TEST_F(ForeignDataset, LogFileMayNotBeAFileOfTheDataset) {
  for (const std::string& file :
       {raw_ + "/dataset_description.json", raw_ + "/sub-01/anat/sub-01_T1w.nii",
        raw_ + "/sub-02/dwi/sub-02_dwi.bval", out_ + "/" + t1_ + ".json",
        out_ + "/" + dwi_ + ".nii"}) {
    const std::string before = fs::exists(file) ? bytes_of(file) : "";
    const Outcome outcome = run_lull(command({"--log-file", file}));
    EXPECT_EQ(outcome.code, 2) << file << outcome.err;
    EXPECT_EQ(fs::exists(file) ? bytes_of(file) : "", before);
    fs::create_directories(out_ + "/sub-01/anat");
    fs::create_directories(out_ + "/sub-02/dwi");
  }
  EXPECT_EQ(run_lull(command({"--log-file", folder_ / "run.log"})).code, 0);
}

TEST_F(ForeignDataset, ResultsAreAsPrivateAsTheirSources) {
  put(sidecar_, "{\"a\":1}");
  fs::permissions(raw_ + "/" + sidecar_, fs::perms(0600));
  fs::permissions(raw_ + "/sub-02/dwi/sub-02_dwi.nii", fs::perms(0640));
  fs::permissions(raw_ + "/sub-02/dwi/sub-02_dwi.bvec", fs::perms(0600));
  ASSERT_EQ(run_lull(command()).code, 0);
  const auto mode = [&](const std::string& name) {
    return static_cast<unsigned>(fs::status(out_ + "/" + name).permissions()) & 077;
  };
  EXPECT_EQ(mode(t1_ + ".json"), 0u);
  EXPECT_EQ(mode(dwi_ + ".nii") & 07, 0u);
  EXPECT_EQ(mode(dwi_ + ".json") & 07, 0u);
  EXPECT_EQ(mode(dwi_ + ".bvec"), 0u);
}

TEST_F(ForeignDataset, LeavesNoTemporaryFiles) {
  Words words = command();
  words.erase(words.begin() + 6, words.begin() + 8);  // without --sigma, the noise is estimated
  ASSERT_EQ(run_lull(words).code, 0);
  for (const auto& entry : fs::recursive_directory_iterator(out_))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(".lull-")));
}

// A signal must stop the command between images too, not only during filtering.
TEST_F(ForeignDataset, StopsOnASignalAtAnyTime) {
  for (int i = 3; i < 30; ++i) {
    const std::string label = "sub-" + std::to_string(i);
    put(label + "/anat/" + label + "_T1w.nii", image(1, 48, 40));
  }
  for (const auto wait : {50ms, 300ms, 800ms, 1500ms}) {
    fs::remove_all(out_);
    Words words = command();
    words.erase(words.begin() + 6, words.begin() + 8);
    Program program(words);
    std::this_thread::sleep_for(wait);
    if (!program.running()) {  // a fast machine finishes before the longest waits
      ASSERT_GT(wait, 50ms);
      break;
    }
    program.send(SIGTERM);
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = program.wait(30s);
    EXPECT_EQ(outcome.code, 128 + SIGTERM) << outcome.err;
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  }
}

}  // namespace
}  // namespace lull::tools
