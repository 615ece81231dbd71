// Tests lull compare on files with a known difference.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

constexpr FrameFormat format{
    .width = 24, .height = 18, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

/// Returns `frame` with `step` added to every sample of a plane.
Frame raised(const Frame& frame, int plane, int step) {
  const Frame result = noisy_picture(frame, 0);
  const PlaneView<std::uint8_t> samples = result.plane<std::uint8_t>(plane);
  for (int y = 0; y < samples.height; ++y)
    for (int x = 0; x < samples.width; ++x)
      samples(x, y) = static_cast<std::uint8_t>(samples(x, y) + step);
  return result;
}

std::string decibels(double mse) {
  std::ostringstream text;
  text.precision(4);
  text << std::fixed << 10 * std::log10(255 * 255 / mse);
  return text.str();
}

/// Returns the words of the line that starts with `name`.
std::vector<std::string> row(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> result;
    for (std::string word; words >> word;) result.push_back(word);
    if (!result.empty() && result.front() == name) return result;
  }
  return {};
}

class Compare : public ::testing::Test {
 protected:
  void expect_refusal(const std::string& a, const std::string& b, int code,
                      const std::string& part) {
    const Outcome outcome = run_lull({"compare", folder_ / a, folder_ / b});
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(part));
  }
  Folder folder_;
};

TEST_F(Compare, ReportsMeanAndWorstFrameOfEachPlane) {
  const Frame clean = clean_picture(format);
  write_y4m(folder_ / "a.y4m", {clean, clean, clean});
  // The squared errors of the three frames are 1, 9 and 4 in Y, and 4 in every frame's Cb. Cr has
  // no error.
  write_y4m(folder_ / "b.y4m",
            {raised(raised(clean, 0, 1), 1, 2), raised(raised(clean, 0, 3), 1, 2),
             raised(raised(clean, 0, 2), 1, 2)});
  const Outcome outcome =
      run_lull({"compare", folder_ / "a.y4m", folder_ / "b.y4m", "--csv", folder_ / "c.csv"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("frames 3\n"));
  const auto luma = row(outcome.out, "Y"), cb = row(outcome.out, "Cb"), cr = row(outcome.out, "Cr");
  ASSERT_EQ(luma.size(), 8u);
  EXPECT_EQ(luma[1], decibels(std::cbrt(1.0 * 9 * 4)));  // the mean of the logarithms
  EXPECT_EQ(luma[2], decibels(14.0 / 3));
  EXPECT_EQ(luma[3], decibels(9));
  EXPECT_EQ(luma[4], "1");
  EXPECT_EQ(luma[7], "1");
  EXPECT_EQ(cb.at(1), decibels(4));
  EXPECT_EQ(cb.at(4), "0");
  EXPECT_EQ(cr.at(1), "inf");
  EXPECT_EQ(cr.at(5), "1.000000");

  std::istringstream csv(bytes_of(folder_ / "c.csv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(csv, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[0], "frame,plane,psnr,ssim");
  EXPECT_THAT(lines[1], ::testing::StartsWith("0,Y," + decibels(1) + ",0."));
  EXPECT_THAT(lines[5], ::testing::StartsWith("1,Cb," + decibels(4) + ",0."));
  EXPECT_EQ(lines[9], "2,Cr,inf,1.000000");
}

TEST_F(Compare, ReplacesATableOnlyByACompleteTable) {
  const Frame clean = clean_picture(format);
  write_y4m(folder_ / "a.y4m", {clean, clean});
  write_y4m(folder_ / "long.y4m", {clean, clean, clean});
  write_bytes(folder_ / "c.csv", "precious");
  const auto compare = [&](const std::string& b, std::vector<std::string> more) {
    more.insert(more.begin(),
                {"compare", folder_ / "a.y4m", folder_ / b, "--csv", folder_ / "c.csv"});
    return run_lull(more);
  };
  const Outcome outcome = compare("a.y4m", {});
  EXPECT_EQ(outcome.code, 73);
  EXPECT_THAT(outcome.err, HasSubstr("exists; give -y"));
  EXPECT_EQ(compare("long.y4m", {"-y"}).code, 65);
  EXPECT_EQ(bytes_of(folder_ / "c.csv"), "precious");
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"a.y4m", "c.csv", "long.y4m"}));
  EXPECT_EQ(compare("a.y4m", {"-y"}).code, 0);
  EXPECT_THAT(bytes_of(folder_ / "c.csv"),
              ::testing::StartsWith("frame,plane,psnr,ssim\n0,Y,inf,"));
}

TEST_F(Compare, UsesThePeakOfSixteenBitSamples) {
  const FrameFormat deep{.width = 20, .height = 20, .sample = SampleType::u16, .bits = 16};
  const Frame a = clean_picture(deep), b = noisy_picture(a, 0);
  const PlaneView<std::uint16_t> samples = b.plane<std::uint16_t>(0);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 20; ++x) samples(x, y) = static_cast<std::uint16_t>(samples(x, y) + 257);
  write_pnm(folder_ / "a.pgm", a);
  write_pnm(folder_ / "b.pgm", b);
  const Outcome outcome = run_lull({"compare", folder_ / "a.pgm", folder_ / "b.pgm"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(row(outcome.out, "Y").at(1), decibels(1));  // 257 of 65535 equals 1 of 255
}

TEST_F(Compare, NamesTheRgbPlanes) {
  FrameFormat rgb{.width = 12, .height = 12, .layout = Layout::rgb};
  write_pnm(folder_ / "a.ppm", clean_picture(rgb));
  const Outcome outcome = run_lull({"compare", folder_ / "a.ppm", folder_ / "a.ppm"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* plane : {"R", "G", "B"}) EXPECT_EQ(row(outcome.out, plane).at(1), "inf");
}

TEST_F(Compare, RejectsFilesThatCannotBeCompared) {
  const Frame clean = clean_picture(format);
  FrameFormat wide = format, full = format;
  wide.width = 26;
  full.chroma_shift_x = full.chroma_shift_y = 0;
  write_y4m(folder_ / "a.y4m", {clean, clean});
  write_y4m(folder_ / "long.y4m", {clean, clean, clean});
  write_y4m(folder_ / "wide.y4m", {clean_picture(wide), clean_picture(wide)});
  write_y4m(folder_ / "full.y4m", {clean_picture(full), clean_picture(full)});
  write_bytes(folder_ / "text.y4m", "no medium at all");
  expect_refusal("a.y4m", "wide.y4m", 65, "26x18");
  expect_refusal("a.y4m", "full.y4m", 65, "4:4:4");
  expect_refusal("a.y4m", "long.y4m", 65, "2 frames");
  expect_refusal("long.y4m", "a.y4m", 65, "2 frames");
  expect_refusal("a.y4m", "text.y4m", 65, "text.y4m");
  expect_refusal("a.y4m", "missing.y4m", 66, "missing.y4m");
  const Outcome csv = run_lull(
      {"compare", folder_ / "a.y4m", folder_ / "a.y4m", "--csv", folder_ / "missing/c.csv"});
  EXPECT_EQ(csv.code, 73);
  const Outcome self =
      run_lull({"compare", folder_ / "a.y4m", folder_ / "long.y4m", "--csv", folder_ / "a.y4m"});
  EXPECT_EQ(self.code, 2);
}

}  // namespace
}  // namespace lull::tools
