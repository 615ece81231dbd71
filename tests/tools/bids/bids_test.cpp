// Tests lull bids: a dataset becomes a derivative, image by image, and a failed image does not
// affect the others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "io/support/volumes.h"
#include "tools/report/json.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// Returns the bytes of a NIfTI file of 8 bits with `volumes` volumes of `side` x `side` x 10.
std::string image(int volumes, unsigned seed, int side = 20) {
  constexpr int slices = 10;
  std::vector<std::uint8_t> voxels;
  for (int z = 0; z < slices * volumes; ++z) {
    const Frame slice = noisy_picture(clean_picture({.width = side, .height = side}), 10, seed + z);
    for (int y = 0; y < side; ++y)
      voxels.insert(voxels.end(), slice.plane<std::uint8_t>(0).row(y),
                    slice.plane<std::uint8_t>(0).row(y) + side);
  }
  io::test::VolumeSpec spec{.dim = {side, side, slices}, .datatype = 2, .bitpix = 8};
  if (volumes > 1) spec.dim = {side, side, slices, volumes};
  const auto file = io::test::volume(spec, voxels);
  return {file.begin(), file.end()};
}

class Bids : public ::testing::Test {
 protected:
  void SetUp() override {
    put("dataset_description.json",
        R"({"Name": "made up", "BIDSVersion": "1.8.0", "License": "CC0"})");
    put("task-rest_bold.json", R"({"RepetitionTime": 2.0, "TaskName": "rest"})");
    put("dwi.bval", "0 1000\n");
    put("sub-01/anat/sub-01_T1w.nii", image(1, 1));
    put("sub-01/anat/sub-01_T1w.json", R"({"MagneticFieldStrength": 3})");
    put("sub-01/anat/sub-01_part-phase_T1w.nii", "no image of magnitudes");
    put("sub-01/func/sub-01_task-rest_bold.nii", image(2, 20));
    put("sub-01/func/sub-01_task-rest_bold.json", R"({"RepetitionTime": 2.5})");
    put("sub-02/ses-a/dwi/sub-02_ses-a_dwi.nii", image(2, 50));
    put("sub-02/ses-a/dwi/sub-02_ses-a_dwi.bvec", "0 1\n0 0\n0 0\n");
    put("sub-02/ses-a/dwi/sub-02_ses-a_dwi.json", R"({"EchoTime": 0.1})");
  }
  void put(const std::string& name, const std::string& bytes) {
    const fs::path path = raw_ + "/" + name;
    fs::create_directories(path.parent_path());
    write_bytes(path.string(), bytes);
  }
  Outcome bids(Words more = {}) const {
    Words all{"bids", raw_, out_, "participant", "--device", "cpu", "--profile", "fast"};
    all.insert(all.end(), more.begin(), more.end());
    return run_lull(all);
  }
  Json json_of(const std::string& name) const { return Json::parse(bytes_of(out_ + "/" + name)); }

  Folder folder_;
  const std::string raw_ = folder_ / "raw", out_ = folder_ / "raw/derivatives/lull";
  const std::string t1_ = "sub-01/anat/sub-01_desc-denoised_T1w";
  const std::string bold_ = "sub-01/func/sub-01_task-rest_desc-denoised_bold";
  const std::string dwi_ = "sub-02/ses-a/dwi/sub-02_ses-a_desc-denoised_dwi";
};

TEST_F(Bids, CreatesADerivative) {
  const Outcome outcome = bids();
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("3 of 3 images denoised"));
  const Json description = json_of("dataset_description.json");
  EXPECT_EQ(description["DatasetType"], "derivative");
  EXPECT_EQ(description["GeneratedBy"][0]["Name"], "lull");
  EXPECT_EQ(description["License"], "CC0");
  EXPECT_EQ(description["DatasetLinks"]["raw"], "../..");
  const Json t1 = json_of(t1_ + ".json");
  EXPECT_EQ(t1["Sources"][0], "bids:raw:sub-01/anat/sub-01_T1w.nii");
  EXPECT_EQ(t1["SkullStripped"], false);
  EXPECT_EQ(t1["MagneticFieldStrength"], 3);
  EXPECT_EQ(t1["DenoisingMethod"], "BM4D");
  EXPECT_EQ(t1["NoiseSigmaOrigin"], "estimated");
  EXPECT_GT(t1["NoiseSigma"].get<double>(), 4);
  EXPECT_FALSE(fs::exists(out_ + "/sub-01/anat/sub-01_part-phase_desc-denoised_T1w.nii"));
  // One metadata value is inherited, and the other one is overridden.
  EXPECT_EQ(json_of(bold_ + ".json")["RepetitionTime"], 2.5);
  EXPECT_EQ(json_of(bold_ + ".json")["TaskName"], "rest");
  EXPECT_EQ(json_of(dwi_ + ".json")["EchoTime"], 0.1);
  EXPECT_EQ(bytes_of(out_ + "/" + dwi_ + ".bval"), "0 1000\n");
  EXPECT_EQ(bytes_of(out_ + "/" + dwi_ + ".bvec"), "0 1\n0 0\n0 0\n");
  EXPECT_THAT(bytes_of(out_ + "/.bidsignore"), HasSubstr("*_desc-denoised_dwi.bval\n"));
}

TEST_F(Bids, SeriesHaveComponentsAndTheOrderOfLabels) {
  put("sub-03/perf/sub-03_asl.nii", image(8, 70));
  put("sub-03/perf/sub-03_asl.json", R"({"ArterialSpinLabelingType": "PCASL"})");
  put("sub-03/perf/sub-03_aslcontext.tsv", "volume_type\ncontrol\nlabel\n");
  ASSERT_EQ(bids({"--participant-label", "03"}).code, 0);
  const Json asl = json_of("sub-03/perf/sub-03_desc-denoised_asl.json");
  EXPECT_EQ(asl["ArterialSpinLabelingType"], "PCASL");
  EXPECT_GE(asl["DenoisingSignalComponents"].get<int>(), 1);
  EXPECT_EQ(bytes_of(out_ + "/sub-03/perf/sub-03_desc-denoised_aslcontext.tsv"),
            "volume_type\ncontrol\nlabel\n");
  EXPECT_THAT(bytes_of(out_ + "/.bidsignore"), HasSubstr("*_desc-denoised_aslcontext.tsv\n"));
}

TEST_F(Bids, MagnitudesAreDenoisedWithTheirPhases) {
  // Phases of 8 bits that cover a full turn are no known unit, so the pair needs floats.
  constexpr int count = 20 * 20 * 10 * 2;
  std::vector<float> magnitudes, phases;
  for (int i = 0; i < count; ++i) {
    magnitudes.push_back(static_cast<float>(400 + 40 * (i * 7919 % 101 / 50.0 - 1)));
    phases.push_back(static_cast<float>(0.1 * (i * 6007 % 103 / 51.0 - 1)));
  }
  phases[0] = -3.14f, phases[1] = 3.14f;
  const io::test::VolumeSpec spec{.dim = {20, 20, 10, 2}, .datatype = 16, .bitpix = 32};
  const auto mag = io::test::volume(spec, magnitudes), ph = io::test::volume(spec, phases);
  put("sub-03/func/sub-03_task-rest_part-mag_bold.nii", {mag.begin(), mag.end()});
  put("sub-03/func/sub-03_task-rest_part-phase_bold.nii", {ph.begin(), ph.end()});
  const std::string name = "sub-03/func/sub-03_task-rest_part-mag_desc-denoised_bold";
  ASSERT_EQ(bids({"--participant-label", "03", "--phase", "pairs"}).code, 0);
  const Json sidecar = json_of(name + ".json");
  ASSERT_EQ(sidecar["Sources"].size(), 2u);
  EXPECT_EQ(sidecar["Sources"][1], "bids:raw:sub-03/func/sub-03_task-rest_part-phase_bold.nii");
  EXPECT_EQ(sidecar["NoiseDistribution"], "Rician");
  const std::string with_phase = bytes_of(out_ + "/" + name + ".nii");
  ASSERT_EQ(run_lull({"denoise", raw_ + "/sub-03/func/sub-03_task-rest_part-mag_bold.nii",
                      folder_ / "one.nii", "--phase",
                      raw_ + "/sub-03/func/sub-03_task-rest_part-phase_bold.nii", "--device", "cpu",
                      "--profile", "fast"})
                .code,
            0);
  EXPECT_EQ(with_phase, bytes_of(folder_ / "one.nii"));
  ASSERT_EQ(bids({"--participant-label", "03", "-y"}).code, 0);
  EXPECT_EQ(json_of(name + ".json")["Sources"].size(), 1u);
  EXPECT_NE(with_phase, bytes_of(out_ + "/" + name + ".nii"));
  EXPECT_EQ(bids({"--phase", "other.nii"}).code, 2);
}

TEST_F(Bids, GivesTheBytesOfTheDenoiseCommand) {
  ASSERT_EQ(bids({"--sigma", "10", "--suffix", "bold"}).code, 0);
  ASSERT_EQ(run_lull({"denoise", raw_ + "/sub-01/func/sub-01_task-rest_bold.nii",
                      folder_ / "one.nii", "--sigma", "10", "--device", "cpu", "--profile", "fast"})
                .code,
            0);
  EXPECT_EQ(bytes_of(out_ + "/" + bold_ + ".nii"), bytes_of(folder_ / "one.nii"));
  EXPECT_EQ(json_of(bold_ + ".json")["NoiseSigma"], 10);
  EXPECT_EQ(json_of(bold_ + ".json")["NoiseSigmaOrigin"], "stated");
  EXPECT_FALSE(fs::exists(out_ + "/" + t1_ + ".nii"));
}

TEST_F(Bids, SidecarStatesTheGivenMethod) {
  for (const auto& [method, name] :
       {std::pair{"nlm", "NLM"}, std::pair{"bm3d", "BM3D"}, std::pair{"bm4d", "BM4D"}}) {
    ASSERT_EQ(bids({"--method", method, "--sigma", "10", "--suffix", "T1w", "-y"}).code, 0);
    EXPECT_EQ(json_of(t1_ + ".json")["DenoisingMethod"], name);
    EXPECT_EQ(json_of(t1_ + ".json")["Description"], std::string("Denoised by lull with ") + name);
  }
}

TEST_F(Bids, NamesItsSourceByAUrl) {
  const std::string raw = folder_ / "100 % of \u00e4", out = folder_ / "out";
  fs::rename(raw_, raw);
  const Outcome outcome =
      run_lull({"bids", raw, out, "participant", "--device", "cpu", "--profile", "fast"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json description = Json::parse(bytes_of(out + "/dataset_description.json"));
  const std::string url = description["SourceDatasets"][0]["URL"];
  EXPECT_TRUE(url.starts_with("file:///")) << url;
  EXPECT_TRUE(url.ends_with("/100%20%25%20of%20%C3%A4")) << url;
}

TEST_F(Bids, KeepsFinishedImages) {
  ASSERT_EQ(bids({"--sigma", "10", "--participant-label", "01"}).code, 0);
  EXPECT_FALSE(fs::exists(out_ + "/sub-02"));
  const std::string whole = bytes_of(out_ + "/" + bold_ + ".nii");
  write_bytes(out_ + "/" + t1_ + ".nii", "mine");
  fs::remove(out_ + "/" + bold_ + ".json");  // the state after a kill
  const Outcome outcome = bids({"--sigma", "10", "--participant_label", "sub-01"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("2 of 2 images denoised, 1 of them earlier"));
  EXPECT_EQ(bytes_of(out_ + "/" + t1_ + ".nii"), "mine");
  EXPECT_EQ(bytes_of(out_ + "/" + bold_ + ".nii"), whole);
  EXPECT_TRUE(fs::exists(out_ + "/" + bold_ + ".json"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("give -y to denoise them again")));
  const Outcome other = bids({"--sigma", "12", "--participant-label", "01"});
  EXPECT_EQ(other.code, 0);
  EXPECT_THAT(other.err, HasSubstr("2 of these were denoised earlier with another profile"));
  ASSERT_EQ(bids({"--sigma", "10", "--suffix", "T1w", "-y"}).code, 0);
  EXPECT_NE(bytes_of(out_ + "/" + t1_ + ".nii"), "mine");
}

TEST_F(Bids, FailedImageDoesNotStopTheOthers) {
  put("sub-01/anat/sub-01_T1w.nii", "no image");
  put("sub-01/func/sub-01_task-rest_bold.json", "no JSON");
  const Outcome outcome = bids({"--sigma", "10"});
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.err, HasSubstr("sub-01/anat/sub-01_T1w.nii: "));
  EXPECT_THAT(outcome.err, HasSubstr("sub-01_task-rest_bold.json' is not a JSON object"));
  EXPECT_THAT(outcome.err, HasSubstr("1 of 3 images denoised, 2 failed"));
  EXPECT_TRUE(fs::exists(out_ + "/" + dwi_ + ".nii"));
  EXPECT_FALSE(fs::exists(out_ + "/" + t1_ + ".nii"));
  EXPECT_FALSE(fs::exists(out_ + "/" + t1_ + ".json"));
}

TEST_F(Bids, MemoryLimitAppliesToEachImage) {
  put("sub-01/anat/sub-01_T1w.nii", image(1, 1, 160));
  const Outcome outcome = bids({"--sigma", "10", "--max-memory", "2M"});
  EXPECT_EQ(outcome.code, 71) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("raise the limit with --max-memory"));
  EXPECT_THAT(outcome.err, HasSubstr("2 of 3 images denoised, 1 failed"));
  ASSERT_EQ(bids({"--sigma", "10", "--max-memory", "1G"}).code, 0);
}

TEST_F(Bids, RejectsInvalidDatasets) {
  const auto expect = [](const Words& arguments, int code, const std::string& text) {
    const Outcome outcome = run_lull(arguments);
    EXPECT_EQ(outcome.code, code) << text;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  };
  expect({"bids", folder_ / "no", out_, "participant"}, 66, "is not a folder");
  expect({"bids", raw_, out_, "group"}, 2, "level 'group'");
  expect({"bids", raw_, raw_, "participant"}, 2, "is the dataset itself");
  expect({"bids", raw_, out_, "participant", "--participant-label", "09"}, 66,
         "no participant '09'");
  expect({"bids", raw_, out_, "participant", "--noise", "camera.json"}, 2, "--noise camera.json");
  expect({"bids", raw_, out_, "participant", "--noise", "poisson"}, 2, "--noise poisson");
  expect({"bids", raw_, out_, "participant", "--suffix", "T1"}, 2,
         "--suffix T1 (must be one of T1w");
  fs::create_directories(folder_ / "other");
  expect({"bids", folder_ / "other", out_, "participant"}, 65, "is not a BIDS dataset");
  write_bytes(folder_ / "other/dataset_description.json", R"({"Name": "another's"})");
  expect({"bids", folder_ / "other", out_, "participant"}, 65, "has no participants");
  expect({"bids", raw_, folder_ / "other", "participant"}, 73, "holds another dataset");
  write_bytes(folder_ / "other/dataset_description.json", "{");
  expect({"bids", folder_ / "other", out_, "participant"}, 65, "is not a JSON object");
  EXPECT_FALSE(fs::exists(out_));
}

}  // namespace
}  // namespace lull::tools
