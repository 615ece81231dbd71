// Tests JPEG files with several pictures: Ultra HDR (gain maps) and MPO.

#include "io/metadata/multi_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "core/frame_pool.h"
#include "io/metadata/photos.h"

namespace lull::io::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Bytes = std::vector<std::uint8_t>;

void put(Bytes& to, std::uint32_t value, int count) {
  for (int i = count; i-- > 0;) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

std::uint32_t number(const Bytes& from, std::size_t at, int count) {
  std::uint32_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | from[at + static_cast<std::size_t>(i)];
  return value;
}

/// Appends `second` to the file and adds an index, with big-endian numbers, after its JFIF segment.
void append_picture(const std::string& path, const Bytes& second, std::uint32_t attributes,
                    std::uint32_t size_error = 0) {
  constexpr std::uint32_t jfif_end = 20, index_at = jfif_end + 8;
  Bytes file = read_file(path);
  Bytes index;
  put(index, 0xFFE2, 2);
  put(index, 2 + 4 + 82, 2);
  for (const char c : std::string_view("MPF\0MM\0*", 8))
    index.push_back(static_cast<std::uint8_t>(c));
  put(index, 8, 4);
  put(index, 3, 2);
  const std::uint32_t fields[3][4] = {
      {0xB000, 7, 4, 0x30313030}, {0xB001, 4, 1, 2}, {0xB002, 7, 32, 50}};
  for (const auto& field : fields) {
    put(index, field[0], 2);
    put(index, field[1], 2);
    put(index, field[2], 4);
    put(index, field[3], 4);
  }
  put(index, 0, 4);
  const auto main_bytes = static_cast<std::uint32_t>(file.size() + 4 + 4 + 82);
  const auto second_bytes = static_cast<std::uint32_t>(second.size()) + size_error;
  for (const std::uint32_t value :
       {0x030000u, main_bytes, 0u, 0u, attributes, second_bytes, main_bytes - index_at, 0u})
    put(index, value, 4);
  file.insert(file.begin() + jfif_end, index.begin(), index.end());
  file.insert(file.end(), second.begin(), second.end());
  write_file(path, file);
}

/// Returns the second picture to which the index of a file leads; empty if there is none.
Bytes second_picture(const std::string& path) {
  const Bytes file = read_file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const std::size_t name = text.find(std::string_view("MPF\0MM\0*", 8));
  if (name == text.npos) return {};
  const std::size_t index = name + 4, entries = index + 50;
  EXPECT_EQ(number(file, index + 8 + 2 + 12 + 8, 4), 2u) << "number of pictures";
  const std::uint32_t main_bytes = number(file, entries + 4, 4);
  EXPECT_EQ(number(file, main_bytes - 2, 2), 0xFFD9u) << "the main picture ends elsewhere";
  const std::size_t at = index + number(file, entries + 16 + 8, 4);
  const std::uint32_t size = number(file, entries + 16 + 4, 4);
  if (at + size > file.size()) return {};
  return {file.begin() + static_cast<std::ptrdiff_t>(at),
          file.begin() + static_cast<std::ptrdiff_t>(at + size)};
}

class MultiPicture : public testing::Test {
 protected:
  TemporaryFolder folder;
  static constexpr std::uint32_t gain_map = 0, other_view = 0x020002;

  std::string photo(const std::string& name, std::uint32_t attributes) {
    const std::string path = folder / name;
    make_picture(path, "jpg");
    append_picture(path, small(), attributes);
    return path;
  }
  Bytes small() {
    make_picture(folder / "small.jpg", "jpg", 16, 12);
    return read_file(folder / "small.jpg");
  }
};

TEST_F(MultiPicture, ReadsTheMainPictureOnly) {
  const std::string in = photo("in.jpg", gain_map);
  EXPECT_TRUE(open_source(in)->info().still);
  EXPECT_EQ(count_frames(in), 1);
  make_picture(folder / "plain.jpg", "jpg");
  copy_photo(in, folder / "out.ppm");
  copy_photo(folder / "plain.jpg", folder / "plain.ppm");
  EXPECT_EQ(read_file(folder / "out.ppm"), read_file(folder / "plain.ppm"));
}

TEST_F(MultiPicture, KeepsTheGainMap) {
  const Copied copied = copy_photo(photo("in.jpg", gain_map), folder / "out.jpg");
  EXPECT_THAT(copied.losses, IsEmpty());
  EXPECT_EQ(second_picture(folder / "out.jpg"), small());
  // The main picture begins with JFIF, as readers expect.
  EXPECT_EQ(number(read_file(folder / "out.jpg"), 2, 2), 0xFFE0u);
}

TEST_F(MultiPicture, KeepsTheGainMapTwice) {
  copy_photo(photo("in.jpg", gain_map), folder / "once.jpg");
  copy_photo(folder / "once.jpg", folder / "twice.jpg");
  EXPECT_EQ(second_picture(folder / "twice.jpg"), small());
}

TEST_F(MultiPicture, DropsTheGainMapForOtherFormats) {
  const std::string in = photo("in.jpg", gain_map);
  for (const std::string to : {"png", "tif", "ppm", "mkv"})
    EXPECT_THAT(copy_photo(in, folder / ("out." + to)).losses, Contains(HasSubstr("the gain map")))
        << to;
}

TEST_F(MultiPicture, DropsTheGainMapIfTheSizeChanges) {
  const auto source = open_source(photo("in.jpg", gain_map));
  SinkOptions options;
  options.width = 128;
  options.height = 96;
  const auto sink = open_sink(folder / "out.jpg", *source, options);
  EXPECT_THAT(sink->losses(), ElementsAre(HasSubstr("the gain map")));
}

TEST_F(MultiPicture, DropsOtherViews) {
  const Copied copied = copy_photo(photo("in.jpg", other_view), folder / "out.jpg");
  EXPECT_THAT(copied.losses, ElementsAre(HasSubstr("1 further picture of the file")));
  EXPECT_THAT(second_picture(folder / "out.jpg"), IsEmpty());
}

TEST_F(MultiPicture, SequencesReadTheMainPictures) {
  photo("in1.jpg", gain_map);
  photo("in2.jpg", gain_map);
  EXPECT_EQ(count_frames(folder / "in%d.jpg"), 2);
  EXPECT_THAT(copy_photo(folder / "in%d.jpg", folder / "out%d.jpg").losses, IsEmpty());
  EXPECT_EQ(second_picture(folder / "out2.jpg"), small());
}

TEST_F(MultiPicture, IgnoresEntriesOutsideTheFile) {
  const std::string in = folder / "in.jpg";
  make_picture(in, "jpg");
  append_picture(in, small(), gain_map, 1000);
  EXPECT_EQ(count_frames(in), 1);
  copy_photo(in, folder / "out.jpg");
  EXPECT_THAT(second_picture(folder / "out.jpg"), IsEmpty());
}

// The MP4 file contains bytes like the beginning of a JPEG picture.
TEST_F(MultiPicture, ReportsTheVideoOfAMotionPhoto) {
  constexpr std::string_view xmp{
      "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF "
      "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description rdf:about='' "
      "xmlns:GCamera='http://ns.google.com/photos/1.0/camera/' GCamera:MotionPhoto='1'/></rdf:RDF>"
      "</x:xmpmeta>",
      263};
  constexpr std::string_view video{
      "\0\0\0\x14"
      "ftypmp42\0\0\0\0mp42\xFF\xD8\xFF\xE3\0\4 not a picture",
      40};
  make_picture(folder / "in.jpg", "jpg");
  Bytes file = read_file(folder / "in.jpg"), segment;
  put(segment, 0xFFE1, 2);
  put(segment, static_cast<std::uint32_t>(2 + xmp.size()), 2);
  segment.insert(segment.end(), xmp.begin(), xmp.end());
  constexpr int jfif_end = 20;
  file.insert(file.begin() + jfif_end, segment.begin(), segment.end());
  file.insert(file.end(), video.begin(), video.end());
  write_file(folder / "in.jpg", file);
  EXPECT_TRUE(open_source(folder / "in.jpg")->info().still);
  EXPECT_EQ(count_frames(folder / "in.jpg"), 1);
  for (const std::string to : {"jpg", "png", "tif", "webp"}) {
    const std::string out = folder / ("out." + to);
    EXPECT_THAT(copy_photo(folder / "in.jpg", out).losses,
                ElementsAre(HasSubstr("the video of the motion photo")));
    const Bytes bytes = read_file(out);
    EXPECT_THAT(std::string(bytes.begin(), bytes.end()), HasSubstr("GCamera:MotionPhoto=\"0\""));
  }
}

// Each entry is copied, so that entries with one range could need any amount of memory.
TEST(MultiPictureIndex, OverlappingEntriesAreNotCopied) {
  ByteVector file(1000);
  file[100] = 0xFF, file[101] = 0xD8;
  const std::vector<AdditionalPicture> many(50, {0, ByteVector(800), false});
  // The index comes first, so that the first additional picture begins 100 bytes after its end.
  const std::size_t index_bytes = make_index(many, 100, 0).size();
  const ByteVector index = make_index(many, index_bytes + 100, 0);
  ByteVector overlapping = index;
  // The offset of each entry becomes that of the first additional picture.
  const std::size_t entry = 16, first = overlapping.size() - many.size() * entry;
  for (std::size_t k = 0; k < many.size(); ++k)
    std::copy_n(overlapping.begin() + static_cast<std::ptrdiff_t>(first), entry,
                overlapping.begin() + static_cast<std::ptrdiff_t>(first + k * entry));
  file.insert(file.begin(), overlapping.begin(), overlapping.end());
  std::size_t bytes = 0;
  for (const AdditionalPicture& picture : read_pictures(file, 0, overlapping.size()))
    bytes += picture.data.size();
  EXPECT_GE(bytes, 800u) << "the entries lead to a picture";
  EXPECT_LE(bytes, file.size());
}

}  // namespace
}  // namespace lull::io::test
