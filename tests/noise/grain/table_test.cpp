// Tests that the text of a grain table describes the table.

#include <gtest/gtest.h>

#include <sstream>

#include "noise/grain/grain_table.h"
#include "support/grain_text.h"

namespace lull {
namespace {

GrainParams some_grain() {
  GrainParams grain;
  grain.points = {{{{4, 10}, {100, 30}, {250, 7}}, {{0, 5}, {255, 6}}, {{0, 0}, {255, 0}}}};
  grain.scaling_shift = 10;
  grain.ar_coeff_shift = 6;
  grain.grain_scale_shift = 2;
  for (int i = 0; i < 3; ++i)
    for (int tap = 0; tap < grain_taps; ++tap) grain.ar_coeffs[i][tap] = i * 30 + tap - 50;
  grain.luma_coeff = {0, 11, -12};
  return grain;
}

TEST(GrainText, SurvivesWritingAndParsing) {
  const GrainTable table{{0, 12'345'678, some_grain()},
                         {12'345'678, 20'000'000, std::nullopt},
                         {20'000'000, 90'000'000'000, some_grain()}};
  EXPECT_EQ(test_support::grain_table_of(text_of(table)), table);
}

TEST(GrainText, CleanSceneIsAnEntryWithoutGrain) {
  EXPECT_EQ(text_of({{0, 400'000, std::nullopt}}), "filmgrn1\nE 0 400000 0 7391 0\n");
  EXPECT_EQ(text_of({}), "filmgrn1\n");
}

TEST(GrainText, GreyHasNoChromaPoints) {
  GrainParams grain = some_grain();
  grain.points[1].clear();
  grain.points[2].clear();
  const std::string text = text_of({{0, 1, grain}});
  EXPECT_NE(text.find("\tsCb 0\n\tsCr 0\n"), std::string::npos) << text;
}

TEST(GrainText, SeedsFitInSixteenBits) {
  GrainTable table;
  for (int i = 0; i < 100; ++i) table.push_back({i, i + 1, some_grain()});
  std::istringstream in(text_of(table));
  for (std::string line; std::getline(in, line);) {
    if (line.front() != 'E') continue;
    std::istringstream fields(line.substr(1));
    int start = 0, end = 0, apply = 0, seed = -1;
    fields >> start >> end >> apply >> seed;
    EXPECT_TRUE(seed >= 0 && seed <= 32767) << line;
  }
}

}  // namespace
}  // namespace lull
