// Tests pictures without defects: details that resemble defects must not be detected.

#include <gtest/gtest.h>

#include "repair/clips.h"

namespace lull::repair {
namespace {

using test_support::height;
using test_support::make_clip;
using test_support::moving_waves;
using test_support::Picture;
using test_support::width;

/// Pseudo-random numbers from 0 to 1 that depend on the position only.
double hash(int a, int b, int c = 0) {
  auto h = static_cast<std::uint32_t>(a * 73856093) ^ static_cast<std::uint32_t>(b * 19349663) ^
           static_cast<std::uint32_t>(c * 83492791);
  h = (h ^ (h >> 13)) * 1274126177u;
  return static_cast<double>((h ^ (h >> 16)) & 0xffffff) / 0x1000000;
}

/// Points of light at random positions that optics spread by a Gaussian of deviation `blur`.
double points(double x, double y, double blur, int count, double peak) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const double dx = x - hash(i, 1) * width, dy = y - hash(i, 2) * height;
    sum += peak * (0.3 + hash(i, 3)) * std::exp(-(dx * dx + dy * dy) / (2 * blur * blur));
  }
  return sum;
}

/// Letters of a pixel font: strokes that are one sample wide, dots, and serifs.
bool is_ink(int x, int y) {
  constexpr int rows[7] = {0b10010, 0b00010, 0b11010, 0b01011, 0b01010, 0b01010, 0b11101};
  const int column = x % 6, row = y % 11, letter = x / 6 + 97 * (y / 11);
  if (row >= 7 || column >= 5 || hash(letter, 5) < 0.15) return false;
  if (hash(letter, 6) < 0.15) return row == 6 && column == 1;  // a full stop
  return (rows[(row + letter) % 7] >> column) % 2 == 1;
}

struct CleanPicture {
  const char* name;
  Picture picture;
};

class CleanPictures : public ::testing::TestWithParam<CleanPicture> {};

TEST_P(CleanPictures, HaveNoDefects) {
  for (const double sigma : {0.0, 2.0, 10.0}) {
    EXPECT_TRUE(find_defects(make_clip(GetParam().picture, sigma).excerpts()).none())
        << "a clip, sigma " << sigma;
    EXPECT_TRUE(find_defects(make_clip(GetParam().picture, sigma, 1).excerpts()).none())
        << "a still, sigma " << sigma;
  }
}

const CleanPicture clean_pictures[] = {
    {"Waves", moving_waves},
    {"Black", [](int, int, int) { return 0.0; }},
    {"StaticStars",
     [](int x, int y, int) { return std::min(10 + points(x, y, 0.7, 60, 200), 255.0); }},
    {"MovingStars",
     [](int x, int y, int t) {
       return std::min(10 + points(x + 0.7 * t, y, 0.7, 60, 200), 255.0);
     }},
    {"SharpStars",
     [](int x, int y, int) { return std::min(10 + points(x, y, 0.55, 60, 240), 255.0); }},
    {"DrawnStars",  // on a gradient, over a ground without stars
     [](int x, int y, int) {
       if (y > height * 7 / 8) return 70 + 30 * hash(x / 9, y / 3);
       return hash(x, y) > 0.999 ? 120 + 130 * hash(y, x) : 15 + 0.1 * y;
     }},
    {"Highlights",
     [](int x, int y, int t) {
       return std::min(moving_waves(x, y, t) + points(x + 2 * t, y, 1.0, 40, 400), 255.0);
     }},
    {"Subtitles",
     [](int x, int y, int t) {
       return y > height - 30 && y < height - 8 && is_ink(x, y) ? 235.0 : moving_waves(x, y, t);
     }},
    {"PartOfSubtitles",
     [](int x, int y, int t) {
       return t > 4 && y > height - 30 && x > 30 && x < 120 && is_ink(x, y) ? 235.0
                                                                            : moving_waves(x, y, t);
     }},
    {"TextPage", [](int x, int y, int) { return is_ink(x, y) ? 20.0 : 250.0; }},
    {"ThinLines",
     [](int x, int y, int t) {
       return x % 37 == 5 || y % 29 == 3 || (x + y) % 53 == 0 ? 240.0 : moving_waves(x, y, t);
     }},
    {"Checkerboard", [](int x, int y, int) { return (x + y) % 2 ? 235.0 : 16.0; }},
    {"CoarseCheckerboard", [](int x, int y, int) { return (x / 8 + y / 8) % 2 ? 235.0 : 16.0; }},
    {"DottedLines",
     [](int x, int y, int t) { return x % 2 == 0 && y % 20 == 7 ? 240.0 : moving_waves(x, y, t); }},
    {"DotGrid", [](int x, int y, int) { return x % 10 == 3 && y % 10 == 4 ? 20.0 : 240.0; }},
    {"Dither",
     [](int x, int y, int) {
       constexpr int matrix[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
       return 16.0 * x / width > matrix[y % 4][x % 4] ? 255.0 : 0.0;
     }},
    {"RowsOfOneSample", [](int, int y, int) { return y % 2 ? 200.0 : 60.0; }},
    {"RuledPaper", [](int, int y, int) { return y % 12 == 0 ? 120.0 : 230.0; }},
    {"HorizontalBars", [](int, int y, int) { return 40 + 170 * hash(y / 5, 9); }},
    {"Confetti",
     [](int x, int y, int t) {
       return hash(x / 2, (y - 5 * t + 200) / 2) > 0.99 ? 250.0 : moving_waves(x, y, t);
     }},
    {"Fireworks",
     [](int x, int y, int t) {
       return std::min(5 + points(x + 3.0 * t * hash(1, x / 40), y - 2.0 * t, 0.8, 80, 250), 255.0);
     }},
    {"FilmDirt",
     [](int x, int y, int t) {
       double value = moving_waves(x, y, t);
       for (int i = 0; i < 12; ++i) {
         const double dx = x - hash(i, t, 1) * width, dy = y - hash(i, t, 2) * height;
         if (dx * dx + dy * dy < 1 + 8 * hash(i, t, 3)) value = i % 2 ? 15 : 240;
       }
       return value;
     }},
    {"Texture", [](int x, int y,
                   int t) { return 40 + 170 * hash((x + 2 * t) / 2, y / 2) * hash(x + 2 * t, y); }},
};

INSTANTIATE_TEST_SUITE_P(Repair, CleanPictures, ::testing::ValuesIn(clean_pictures),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lull::repair
