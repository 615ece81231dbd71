// Tests --report, lull report and lull compare --html: the page contains the measured figures, and
// the result of denoising does not depend on the page.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <thread>

#include "io/digest.h"
#include "io/support/volumes.h"
#include "tools/support/clips.h"
#include "tools/support/pages.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

constexpr FrameFormat format{
    .width = 112, .height = 96, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

class Report : public ::testing::Test {
 protected:
  static constexpr int frames = 12;

  void SetUp() override {
    std::vector<Frame> clean, noisy;
    for (int i = 0; i < frames; ++i) {
      clean.push_back(clean_picture(format, 0.1 * i));
      noisy.push_back(noisy_picture(clean.back(), 15, i + 1));
    }
    write_y4m(folder_ / "clean.y4m", clean);
    write_y4m(folder_ / "in.y4m", noisy);
  }
  Outcome denoise(const std::string& in, const std::string& out, const Words& more) const {
    Words all{"denoise", in, out, "--device", "cpu", "--profile", "fast"};
    all.insert(all.end(), more.begin(), more.end());
    return run_lull(all, {.folder = folder_ / "."});
  }
  std::string page(const std::string& name = "page.html") const {
    return expect_self_contained(bytes_of(folder_ / name));
  }
  Folder folder_;
};

int sliders_in(const std::string& html) {
  const std::regex figure("<figure class=\"compare\">");
  return static_cast<int>(
      std::distance(std::sregex_iterator(html.begin(), html.end(), figure), {}));
}

TEST_F(Report, DescribesTheRunAndChangesNoByte) {
  ASSERT_EQ(denoise("in.y4m", "plain.y4m", {"--sigma", "15"}).code, 0);
  const Outcome outcome = denoise("in.y4m", "out.y4m", {"--sigma", "15", "--report", "page.html"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(bytes_of(folder_ / "out.y4m"), bytes_of(folder_ / "plain.y4m"));
  const std::string html = page();
  EXPECT_EQ(sliders_in(html), 3);
  EXPECT_THAT(
      html,
      AllOf(HasSubstr("Looks like noise: <span class=\"yes\">yes</span>"), HasSubstr("Given noise"),
            HasSubstr("112x96"), HasSubstr(io::sha256_of(bytes_of(folder_ / "in.y4m"))),
            HasSubstr(io::sha256_of(bytes_of(folder_ / "out.y4m"))),
            HasSubstr("share of time in which each stage was busy"), HasSubstr("--profile")));
  EXPECT_THAT(folder_.names(), ::testing::UnorderedElementsAre("clean.y4m", "in.y4m", "out.y4m",
                                                               "page.html", "plain.y4m"));
}

TEST_F(Report, DetectsExcessiveRemoval) {
  // The input has no noise and sigma is 40, so the filter removes structure.
  ASSERT_EQ(denoise("clean.y4m", "out.y4m", {"--sigma", "40", "--report", "page.html"}).code, 0);
  EXPECT_THAT(page(), HasSubstr("Looks like noise: <span class=\"no\">no</span>"));
}

TEST_F(Report, ReferenceGivesTheFiguresOfCompare) {
  const Outcome outcome = denoise(
      "in.y4m", "out.y4m", {"--sigma", "15", "--report", "page.html", "--reference", "clean.y4m"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string json =
      run_lull({"compare", folder_ / "clean.y4m", folder_ / "out.y4m", "--json"}).out;
  std::smatch found;
  ASSERT_TRUE(std::regex_search(json, found, std::regex("\"psnr_all\":([0-9.]+)")));
  char psnr[32];
  std::snprintf(psnr, sizeof psnr, "<td>%.2f dB</td>", std::atof(found[1].str().c_str()));
  EXPECT_THAT(page(), AllOf(HasSubstr("Comparison with clean.y4m"), HasSubstr(psnr)));
}

TEST_F(Report, ReferenceOfAnotherSizeIsRejectedBeforehand) {
  write_y4m(folder_ / "small.y4m", {clean_picture({.width = 48, .height = 48})});
  const Outcome outcome = denoise(
      "in.y4m", "out.y4m", {"--sigma", "15", "--report", "page.html", "--reference", "small.y4m"});
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.err, HasSubstr("only equal formats can be compared"));
  EXPECT_FALSE(fs::exists(folder_ / "out.y4m"));
  EXPECT_FALSE(fs::exists(folder_ / "page.html"));
}

TEST_F(Report, ShortReferenceIsReportedWithoutFailure) {
  write_y4m(folder_ / "short.y4m", {clean_picture(format), clean_picture(format, 0.1)});
  const Outcome outcome = denoise(
      "in.y4m", "out.y4m", {"--sigma", "15", "--report", "page.html", "--reference", "short.y4m"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("has fewer frames than the input"));
  EXPECT_EQ(frames_of(folder_ / "out.y4m").size(), std::size_t{frames});
  EXPECT_THAT(page(), HasSubstr("has fewer frames than the input"));
}

TEST_F(Report, UnwritableReportFailsTheRunAndKeepsTheOutput) {
  // A folder gets the name of the page during the run, so the renaming of the page fails. The run
  // opens the page before the output: it has checked the name when both have temporary files.
  Words all{"denoise", folder_ / "in.y4m", folder_ / "out.y4m",   "--device", "cpu", "--sigma",
            "15",      "--report",         folder_ / "page.html", "--quiet"};
  Program program(all);
  for (int i = 0; i < 500 && folder_.names().size() < 4; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  fs::create_directories(folder_ / "page.html/inside");
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.code, 73) << outcome.err;
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("cannot write the report"));
  EXPECT_EQ(frames_of(folder_ / "out.y4m").size(), std::size_t{frames});
}

TEST_F(Report, RejectsInvalidRequests) {
  const auto expect = [&](const Words& more, int code, const std::string& text) {
    const Outcome outcome = denoise("in.y4m", "out.y4m", more);
    EXPECT_EQ(outcome.code, code) << text;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
    EXPECT_FALSE(fs::exists(folder_ / "out.y4m"));
  };
  expect({"--reference", "clean.y4m"}, 2, "--reference without --report");
  expect({"--report-frames", "1"}, 2, "--report-frames without --report");
  expect({"--report", "p.html", "--report-frames", "3,1"}, 2, "rising numbers");
  expect({"--report", "in.y4m", "-y"}, 2, "another file of this run");
  expect({"--report", "out.y4m"}, 2, "another file of this run");
  expect({"--report", "no/where.html"}, 73, "no/where.html");
  expect({"--report", "p.html", "--reference", "no.y4m"}, 66, "no.y4m");
  write_bytes(folder_ / "there.html", "mine");
  expect({"--report", "there.html"}, 73, "there.html");
  EXPECT_EQ(bytes_of(folder_ / "there.html"), "mine");
}

TEST_F(Report, ShowsTheRequestedFrames) {
  ASSERT_EQ(denoise("in.y4m", "out.y4m",
                    {"--sigma", "15", "--report", "page.html", "--report-frames", "2,11"})
                .code,
            0);
  const std::string html = page();
  EXPECT_EQ(sliders_in(html), 2);
  EXPECT_THAT(html, AllOf(HasSubstr("frame 2, at 0.080 s"), HasSubstr("frame 11, at 0.440 s")));
}

TEST_F(Report, WarnsAboutMissingFrames) {
  const Outcome outcome =
      denoise("in.y4m", "out.y4m",
              {"--sigma", "15", "--report", "page.html", "--report-frames", "2,999,1000"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("does not show frames 999, 1000 of --report-frames"));
  const std::string html = page();
  EXPECT_EQ(sliders_in(html), 1);
  EXPECT_THAT(html, HasSubstr("Not shown: frames 999, 1000"));
}

TEST_F(Report, SupportsVideoWithSoundAndEstimatedNoise) {
  convert(folder_ / "in.y4m", folder_ / "video.mkv", {.lossless = true});
  add_other_streams(folder_ / "video.mkv", folder_ / "in.mkv");
  const Outcome outcome =
      denoise("in.mkv", "out.mkv", {"--temporal", "1", "--report", "page.html", "-q"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(page(), AllOf(HasSubstr("Estimated noise"), HasSubstr("Looks like noise:")));
}

TEST_F(Report, SupportsPipesStillsAndBursts) {
  const std::string in = folder_ / "in.y4m", html = folder_ / "page.html";
  ASSERT_EQ(std::system(("cat '" + in +
                         "' | '" LULL_PROGRAM "' - - --device cpu -q --sigma 15 "
                         "--profile fast --output-format y4m --report '" +
                         html + "' > '" + folder_ / "out.y4m" + "'")
                            .c_str()),
            0);
  EXPECT_EQ(frames_of(folder_ / "out.y4m").size(), std::size_t{frames});
  EXPECT_EQ(sliders_in(page()), 3);
  write_pnm(folder_ / "in.pgm", noisy_picture(clean_picture({.width = 128, .height = 128}), 20));
  ASSERT_EQ(denoise("in.pgm", "out.png", {"--sigma", "20", "-y", "--report", "page.html"}).code, 0);
  EXPECT_EQ(sliders_in(page()), 1);
  ASSERT_EQ(
      denoise("in.y4m", "one.png",
              {"--sigma", "15", "--keep", "3", "--temporal", "1", "-y", "--report", "page.html"})
          .code,
      0);
  EXPECT_THAT(page(), HasSubstr("frame 3"));
  EXPECT_EQ(sliders_in(page()), 1);
}

TEST_F(Report, EscapesNames) {
  const std::string name = "a<b>&\"'.y4m";
  fs::copy_file(folder_ / "in.y4m", folder_ / name);
  ASSERT_EQ(denoise(name, "out.y4m", {"--sigma", "15", "--report", "page.html"}).code, 0);
  EXPECT_THAT(page(), AllOf(HasSubstr("<h1>a&lt;b&gt;&amp;&quot;&#39;.y4m denoised</h1>"),
                            Not(HasSubstr(name))));
}

TEST_F(Report, ShowsThreeSectionsOfAVolume) {
  constexpr int side = 24, slices = 12;
  std::vector<std::uint8_t> voxels;
  for (int z = 0; z < slices; ++z) {
    const Frame slice =
        noisy_picture(clean_picture({.width = side, .height = side}, 0.1 * z), 10, z + 1);
    for (int y = 0; y < side; ++y)
      voxels.insert(voxels.end(), slice.plane<std::uint8_t>(0).row(y),
                    slice.plane<std::uint8_t>(0).row(y) + side);
  }
  const auto file =
      io::test::volume({.dim = {side, side, slices}, .datatype = 2, .bitpix = 8}, voxels);
  write_bytes(folder_ / "in.nii", {file.begin(), file.end()});
  const Outcome outcome = denoise(
      "in.nii", "out.nii", {"--sigma", "10", "--report", "page.html", "--reference", "in.nii"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string html = page();
  EXPECT_EQ(sliders_in(html), 3);
  for (const char* axis : {"cut across z at 6", "cut across y at 12", "cut across x at 12"})
    EXPECT_THAT(html, HasSubstr(axis));
  const Outcome compared = run_lull(
      {"compare", folder_ / "in.nii", folder_ / "out.nii", "--html", folder_ / "compare.html"});
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_EQ(sliders_in(page("compare.html")), 3);
  // The page states the same figures as lull compare for the result, which is rounded.
  std::smatch psnr, told;
  ASSERT_TRUE(std::regex_search(compared.out, psnr, std::regex("all +([0-9.]+)")));
  ASSERT_TRUE(std::regex_search(html, told, std::regex("<b>([0-9.]+) dB</b>PSNR after")));
  EXPECT_NEAR(std::atof(told[1].str().c_str()), std::atof(psnr[1].str().c_str()), 0.03);
  EXPECT_THAT(html, HasSubstr("white, 10 (the file&#39;s units)"));
}

TEST_F(Report, NamesMissingSegmentsOfAJob) {
  const Words plan{"plan",
                   folder_ / "in.y4m",
                   "-o",
                   folder_ / "out.mkv",
                   "--segment-frames",
                   "5",
                   "--job",
                   folder_ / "job",
                   "--device",
                   "cpu",
                   "--profile",
                   "fast",
                   "-q"};
  ASSERT_EQ(run_lull(plan).code, 0);
  ASSERT_EQ(run_lull({"denoise", "--job", folder_ / "job", "--segment", "1", "-q", "--report",
                      folder_ / "part.html"})
                .code,
            0);
  EXPECT_THAT(page("part.html"), HasSubstr("figures and pictures cover the 5 frames"));
  const Outcome outcome = run_lull({"report", folder_ / "job"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("1 of 3 segments done, 2 missing"));
  EXPECT_THAT(page("job.html"),
              AllOf(HasSubstr("Missing: 0, 2"), HasSubstr("1 of 3"), HasSubstr("5 of 12"),
                    HasSubstr("Estimated noise"), HasSubstr("not joined")));
  write_bytes(folder_ / "job/000002.lullseg", "rubbish");
  ASSERT_EQ(run_lull({"report", folder_ / "job", "-o", folder_ / "other.html", "-q"}).code, 0);
  EXPECT_THAT(page("other.html"), HasSubstr("Damaged: 2"));
  ASSERT_EQ(run_lull({"denoise", "--job", folder_ / "job", "-q"}).code, 0);
  ASSERT_EQ(run_lull({"join", folder_ / "job", "-q"}).code, 0);
  ASSERT_EQ(run_lull({"report", folder_ / "job", "-q"}).code, 0);
  EXPECT_THAT(page("job.html"), AllOf(HasSubstr("3 of 3"), Not(HasSubstr("Missing:"))));
  for (const std::string name : {".", "./", "../job", "../job/"}) {
    fs::remove(folder_ / "job.html");
    ASSERT_EQ(run_lull({"report", name, "-q"}, {.folder = folder_ / "job"}).code, 0);
    EXPECT_TRUE(fs::exists(folder_ / "job.html")) << name;
    EXPECT_FALSE(fs::exists(folder_ / "job/..html")) << name;
  }
  EXPECT_EQ(run_lull({"report", folder_ / "nowhere"}).code, 66);
  fs::create_directory(folder_ / "empty");
  EXPECT_EQ(run_lull({"report", folder_ / "empty"}).code, 66);
}

TEST_F(Report, CompareShowsBothFilesAndTheirFigures) {
  const Outcome outcome = run_lull(
      {"compare", folder_ / "clean.y4m", folder_ / "in.y4m", "--html", folder_ / "page.html"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string html = page();
  EXPECT_EQ(sliders_in(html), 3);
  std::smatch psnr;
  ASSERT_TRUE(std::regex_search(outcome.out, psnr, std::regex("Y +([0-9.]+)")));
  EXPECT_THAT(html, AllOf(HasSubstr("<td>" + psnr[1].str() + "</td>"), HasSubstr("SSIM by frame")));
  EXPECT_EQ(run_lull({"compare", folder_ / "clean.y4m", folder_ / "in.y4m", "--html",
                      folder_ / "page.html"})
                .code,
            73);
  EXPECT_EQ(run_lull({"compare", folder_ / "clean.y4m", folder_ / "in.y4m", "--html",
                      folder_ / "in.y4m", "-y"})
                .code,
            2);
}

}  // namespace
}  // namespace lull::tools
