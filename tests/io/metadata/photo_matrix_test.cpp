// Tests the metadata of photos in conversions from every format to every other format: each
// property is kept, or reported as lost. Each cell of the table in docs/reference/metadata.md is a
// conversion whose result is read by Exiv2 and libtiff, or, for PNG, chunk by chunk.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "io/metadata/photos.h"

namespace lull::io::test {
namespace {

constexpr const char* table_file = LULL_SOURCE_FOLDER "/docs/reference/metadata.md";
constexpr const char* outputs[] = {"jpg", "png", "tif", "webp", "ppm", "mkv"};

struct Row {
  std::string title, name;  // `name`: part of the warning
  std::vector<std::string> inputs;
  PhotoFacts facts;
  std::function<bool(const PhotoFacts& in, const PhotoFacts& out)> kept;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {"EXIF: camera, time, position",
       "EXIF",
       {"jpg", "png", "tif", "webp"},
       {.make = "Maker", .taken = "2024:05:01 10:00:00", .latitude = "48/1 8/1 305/10"},
       [](const PhotoFacts& in, const PhotoFacts& out) {
         return out.make == in.make && out.taken == in.taken && out.latitude == in.latitude;
       }},
      {"XMP",
       "XMP",
       {"jpg", "png", "tif", "webp"},
       {.xmp_title = "Alpha"},
       [](const PhotoFacts& in, const PhotoFacts& out) { return out.xmp_title == in.xmp_title; }},
      {"IPTC",
       "IPTC",
       {"jpg", "png", "tif"},
       {.caption = "A caption"},
       [](const PhotoFacts& in, const PhotoFacts& out) { return out.caption == in.caption; }},
      {"ICC profile",
       "ICC",
       {"jpg", "png", "tif", "webp"},
       {.icc = rgb_profile()},
       [](const PhotoFacts& in, const PhotoFacts& out) { return out.icc == in.icc; }},
      {"resolution",
       "resolution",
       {"jpg", "png", "tif"},
       {.dots_per_inch = 300},
       [](const PhotoFacts& in, const PhotoFacts& out) {
         return std::abs(out.dots_per_inch - in.dots_per_inch) < 0.02;
       }},
      {"text of PNG, comment of JPEG",
       "the text of",
       {"jpg", "png"},
       {.texts = "Ann"},
       [](const PhotoFacts& in, const PhotoFacts& out) {
         return out.texts.find(in.texts) != std::string::npos;
       }},
      {"gAMA, cHRM",
       "gamma",
       {"png"},
       {.gamma = 45455, .white_x = 31270},
       [](const PhotoFacts& in, const PhotoFacts& out) {
         return out.gamma == in.gamma && out.white_x == in.white_x;
       }}};
  return all;
}

struct Case {
  const Row* row;
  std::string input;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Row& row : rows())
    for (const std::string& input : row.inputs) all.push_back({&row, input});
  return all;
}

std::string cell_of(const Row& row, const std::string& in, const std::string& out) {
  const std::vector<std::string> losses = copy_photo(in, out).losses;
  const bool named = std::ranges::any_of(
      losses, [&](const auto& text) { return text.find(row.name) != text.npos; });
  const bool kept = row.kept(row.facts, read_photo(out));
  if (kept && named) return "kept, though a warning says that it is lost";
  return kept ? "kept" : named ? "warned" : "lost without a word";
}

std::vector<std::string> table_of_document() {
  std::ifstream file(table_file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("| ")) lines.push_back(line);
  return lines;
}

class PhotoMatrix : public testing::TestWithParam<Case> {};

TEST_P(PhotoMatrix, MatchesTheTableOfTheDocumentation) {
  for (const char* encoder : {"libwebp", "libx264rgb"})
    if (!has_encoder(encoder)) GTEST_SKIP() << "this FFmpeg has no " << encoder;
  const auto& [row, input] = GetParam();
  const TemporaryFolder folder;
  const std::string in = folder / ("in." + input);
  make_picture(in, input);
  add_metadata(in, row->facts);
  ASSERT_TRUE(row->kept(row->facts, read_photo(in)));
  std::string line = "| " + row->title + " | " + input + " |";
  for (const std::string output : outputs)
    line += " " + cell_of(*row, in, folder / ("out." + output)) + " |";
  EXPECT_THAT(table_of_document(), testing::Contains(line));
}

INSTANTIATE_TEST_SUITE_P(Rows, PhotoMatrix, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.row->title + info.param.input;
  std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
  return name;
});

}  // namespace
}  // namespace lull::io::test
