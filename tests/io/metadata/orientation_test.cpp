#include "io/metadata/orientation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

extern "C" {
#include <libavutil/display.h>
}

#include "io/metadata/formats.h"
#include "io/metadata/photos.h"

namespace lull::io::test {
namespace {

std::span<const std::uint8_t> bytes_of(const DisplayMatrix& matrix) {
  return {reinterpret_cast<const std::uint8_t*>(matrix.data()), sizeof matrix};
}

class Orientation : public testing::TestWithParam<int> {};

TEST_P(Orientation, RoundTripsThroughDisplayMatrix) {
  EXPECT_EQ(orientation_of(bytes_of(display_matrix(GetParam()))), GetParam());
}

TEST_P(Orientation, MatchesTheMatrixOfFfmpegsJpegDecoder) {
  const TemporaryFolder folder;
  make_picture(folder / "in.jpg", "jpg");
  add_metadata(folder / "in.jpg", {.orientation = GetParam()});
  const FramePtr first = decode(folder / "in.jpg").first;
  const AVFrameSideData* data = av_frame_get_side_data(first.get(), AV_FRAME_DATA_DISPLAYMATRIX);
  const int found = data ? orientation_of({data->data, data->size}).value_or(0) : 1;
  EXPECT_EQ(found, GetParam());
}

// The picture has 3 columns and 2 rows: 1 2 3 / 4 5 6. EXIF 2.32 states for each orientation where
// row 0 and column 0 are displayed.
TEST_P(Orientation, RotatesSamples) {
  const std::vector<std::vector<int>> expected{
      {1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1}, {4, 5, 6, 1, 2, 3},
      {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3}, {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  const bool swapped = swaps_sides(GetParam());
  for (const AVPixelFormat format : {AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16, AV_PIX_FMT_RGB24,
                                     AV_PIX_FMT_RGBA, AV_PIX_FMT_RGB48, AV_PIX_FMT_RGBA64}) {
    ASSERT_TRUE(can_rotate(format));
    const int bytes = av_pix_fmt_desc_get(format)->comp[0].step;
    FramePtr from = random_picture(format, 3, 2, 1);
    FramePtr to = random_picture(format, swapped ? 2 : 3, swapped ? 3 : 2, 2);
    for (int i = 0; i < 6; ++i)
      std::fill_n(from->data[0] + i / 3 * from->linesize[0] + i % 3 * bytes, bytes,
                  static_cast<std::uint8_t>(i + 1));
    rotate_samples(*from, GetParam(), *to);
    std::vector<int> samples;
    for (int y = 0; y < to->height; ++y)
      for (int x = 0; x < to->width; ++x) {
        const std::uint8_t* sample = to->data[0] + y * to->linesize[0] + x * bytes;
        samples.push_back(*sample);
        EXPECT_TRUE(std::all_of(sample, sample + bytes, [&](int b) { return b == *sample; }));
      }
    EXPECT_EQ(samples, expected[static_cast<std::size_t>(GetParam() - 1)]) << bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Orientation, testing::Range(1, 9));

TEST(CombinedOrientation, AppliesBothInOrder) {
  EXPECT_EQ(combined_orientation(6, 6), 3);
  EXPECT_EQ(combined_orientation(6, 8), 1);
  EXPECT_EQ(combined_orientation(6, 2), 5);  // a quarter clockwise, then left and right exchanged
  EXPECT_EQ(combined_orientation(2, 6), 7);
  for (int i = 1; i <= 8; ++i) EXPECT_EQ(combined_orientation(1, i), i);
}

TEST(OrientationOfMatrix, RejectsOtherAngles) {
  DisplayMatrix matrix;
  av_display_rotation_set(matrix.data(), 30);
  EXPECT_EQ(orientation_of(bytes_of(matrix)), std::nullopt);
  EXPECT_EQ(orientation_of({}), 1);
  matrix.fill(INT32_MIN);
  EXPECT_EQ(orientation_of(bytes_of(matrix)), std::nullopt);
}

TEST(CanRotate, RejectsSubsampledAndPackedBits) {
  EXPECT_FALSE(can_rotate(AV_PIX_FMT_YUVJ420P));
  EXPECT_FALSE(can_rotate(AV_PIX_FMT_MONOBLACK));
  EXPECT_FALSE(can_rotate(AV_PIX_FMT_PAL8));
}

using Bytes = std::vector<std::uint8_t>;

void put(Bytes& to, std::uint32_t value, int count) {
  for (int i = count; i-- > 0;) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

Bytes box(std::string_view type, const Bytes& data) {
  Bytes bytes;
  put(bytes, static_cast<std::uint32_t>(8 + data.size()), 4);
  bytes.insert(bytes.end(), type.begin(), type.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// A file of 2 MB refers to the last of 32767 properties a million times.
TEST(HeifOrientation, TakesLinearTime) {
  constexpr std::uint32_t properties = 0x7FFF, entries = 4001, links_of_entry = 255;
  const Bytes other = box("free", {}), quarter_clockwise = box("irot", {3});
  Bytes all, links;
  for (std::uint32_t i = 1; i < properties; ++i) all.insert(all.end(), other.begin(), other.end());
  all.insert(all.end(), quarter_clockwise.begin(), quarter_clockwise.end());
  put(links, 1, 4);  // numbers of 16 bits
  put(links, entries, 4);
  for (std::uint32_t i = 0; i < entries; ++i) {
    put(links, 1, 2);  // the primary item
    put(links, links_of_entry, 1);
    for (std::uint32_t k = 0; k < links_of_entry; ++k) put(links, properties, 2);
  }
  const Bytes primary = box("pitm", {0, 0, 0, 0, 0, 1});
  const Bytes item_properties = box("iprp", joined(box("ipco", all), box("ipma", links)));
  const Bytes file = box("meta", joined({0, 0, 0, 0}, joined(primary, item_properties)));
  EXPECT_EQ(heif_orientation(file), 8);  // three quarters remain of 1020255
}

}  // namespace
}  // namespace lull::io::test
