// Tests interlaced video: it is rejected by default, or filtered field by field, also over time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "support/pictures.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

constexpr FrameFormat whole{
    .width = 48, .height = 64, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
constexpr FrameFormat half{
    .width = 48, .height = 32, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};

Frame field_of(const Frame& frame, int parity) {
  Frame field = lull::test_support::make_frame(half);
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < field.planes[i].height; ++y)
      std::memcpy(field.planes[i].row(y), frame.planes[i].row(2 * y + parity),
                  static_cast<std::size_t>(field.planes[i].width));
  return field;
}

Frame woven(const Frame& even, const Frame& odd) {
  Frame frame = lull::test_support::make_frame(whole);
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < frame.planes[i].height; ++y)
      std::memcpy(frame.planes[i].row(y), (y % 2 == 0 ? even : odd).planes[i].row(y / 2),
                  static_cast<std::size_t>(frame.planes[i].width));
  return frame;
}

bool same_field(const Frame& a, const Frame& b, int parity) {
  return lull::test_support::same_samples(field_of(a, parity), field_of(b, parity));
}

struct InterlacedVideo : ::testing::Test {
  InterlacedVideo() {
    std::vector<Frame> frames, even, odd;
    for (int i = 0; i < 3; ++i) {
      frames.push_back(noisy_picture(clean_picture(whole, 0.4 * i), 20, i + 1));
      even.push_back(field_of(frames.back(), 0));
      odd.push_back(field_of(frames.back(), 1));
    }
    write_y4m(folder / "even.y4m", even);
    write_y4m(folder / "odd.y4m", odd);
    write_y4m(folder / "whole.y4m", frames);
    std::string bytes = bytes_of(folder / "whole.y4m");
    bytes.replace(bytes.find(" Ip "), 4, " It ");  // top field first
    write_bytes(folder / "in.y4m", bytes);
  }
  void expect_fields(const std::vector<Frame>& out, const std::vector<Frame>& even,
                     const std::vector<Frame>& odd) {
    ASSERT_EQ(out.size(), even.size());
    ASSERT_EQ(out.size(), odd.size());
    for (std::size_t n = 0; n < out.size(); ++n) {
      EXPECT_TRUE(lull::test_support::same_samples(field_of(out[n], 0), even[n])) << n;
      EXPECT_TRUE(lull::test_support::same_samples(field_of(out[n], 1), odd[n])) << n;
    }
  }
  Outcome denoise(const std::string& from, const std::string& to,
                  std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"denoise", "-i", folder / from, "-o", folder / to, "--sigma", "20",
                               "--profile", "fast", "--device", "cpu", "--lossless"});
    return run_lull(more);
  }
  Folder folder;
};

TEST_F(InterlacedVideo, IsRejectedInOneLineWithAHint) {
  const Outcome outcome = denoise("in.y4m", "out.mkv");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("is interlaced"));
  EXPECT_THAT(outcome.err, HasSubstr("--interlaced fields"));
  EXPECT_THAT(folder.names(), ::testing::Not(::testing::Contains(HasSubstr("out"))));
}

TEST_F(InterlacedVideo, FieldsAreFilteredAsSeparatePictures) {
  ASSERT_EQ(denoise("in.y4m", "out.mkv", {"--interlaced", "fields"}).code, 0);
  ASSERT_EQ(denoise("even.y4m", "even.mkv").code, 0);
  ASSERT_EQ(denoise("odd.y4m", "odd.mkv").code, 0);
  expect_fields(frames_of(folder / "out.mkv"), frames_of(folder / "even.mkv"),
                frames_of(folder / "odd.mkv"));
}

// The clip is film in interlaced video: of five frames, the third repeats one field and the fifth
// the other. A scene cut follows, and then a frame that is still except for its odd rows.
TEST_F(InterlacedVideo, EachParityIsASeparateVideoWithTemporalFiltering) {
  const auto picture = [](int moment) {
    return noisy_picture(clean_picture(whole, 0.1 * moment), 20, moment + 1);
  };
  std::vector<Frame> even, odd, frames;
  for (int film = 0; film < 8; film += 4) {
    for (const int moment : {0, 1, 1, 2, 3}) even.push_back(field_of(picture(film + moment), 0));
    for (const int moment : {0, 1, 2, 3, 3}) odd.push_back(field_of(picture(film + moment), 1));
  }
  for (int n = 0; n < 7; ++n) {
    even.push_back(field_of(picture(100), 0));
    odd.push_back(field_of(picture(100 + n), 1));
  }
  for (std::size_t n = 0; n < even.size(); ++n) frames.push_back(woven(even[n], odd[n]));
  write_y4m(folder / "even.y4m", even);
  write_y4m(folder / "odd.y4m", odd);
  write_y4m(folder / "in.y4m", frames);
  for (const std::string radius : {"1", "2"}) {
    SCOPED_TRACE(radius);
    const std::vector<std::string> more = {"-y", "--temporal", radius};
    ASSERT_EQ(denoise("even.y4m", "even.mkv", more).code, 0);
    ASSERT_EQ(denoise("odd.y4m", "odd.mkv", more).code, 0);
    std::vector<std::string> fields = more;
    fields.insert(fields.end(), {"--interlaced", "fields"});
    ASSERT_EQ(denoise("in.y4m", "out.mkv", fields).code, 0);
    const auto out = frames_of(folder / "out.mkv");
    ASSERT_EQ(out.size(), frames.size());
    expect_fields(out, frames_of(folder / "even.mkv"), frames_of(folder / "odd.mkv"));
    for (const std::size_t n : {2, 7, 11, 12, 13, 14, 15, 16}) {
      EXPECT_TRUE(same_field(out[n - 1], out[n], 0)) << n;
      EXPECT_FALSE(same_field(out[n - 1], out[n], 1)) << n;
    }
    EXPECT_TRUE(same_field(out[3], out[4], 1));
    EXPECT_FALSE(same_field(out[3], out[4], 0));
  }
}

TEST_F(InterlacedVideo, CompleteFramesAreFilteredOnRequest) {
  ASSERT_EQ(denoise("in.y4m", "a.mkv", {"--interlaced", "frames"}).code, 0);
  ASSERT_EQ(denoise("whole.y4m", "b.mkv").code, 0);
  const auto a = frames_of(folder / "a.mkv"), b = frames_of(folder / "b.mkv");
  ASSERT_EQ(a.size(), b.size());
  for (int y = 0; y < whole.height; ++y)
    ASSERT_EQ(std::memcmp(a[0].planes[0].row(y), b[0].planes[0].row(y), whole.width), 0) << y;
}

TEST_F(InterlacedVideo, FieldsOfUnequalHeightAreRejected) {
  FrameFormat odd = whole;
  odd.height = 66;  // chroma of 33 rows
  write_y4m(folder / "odd_rows.y4m", {clean_picture(odd, 0)});
  const Outcome outcome = denoise("odd_rows.y4m", "out.mkv", {"--interlaced", "fields"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("multiple of 4"));
}

TEST_F(InterlacedVideo, LostFieldOrderIsAWarningOrAnError) {
  // FFmpeg's Huffyuv in NUT cannot store the field order of Y4M.
  const std::vector<std::string> huffyuv = {"--interlaced", "frames", "--vcodec", "ffvhuff"};
  const Outcome warned = denoise("in.y4m", "out.nut", huffyuv);
  ASSERT_EQ(warned.code, 0) << warned.err;
  EXPECT_THAT(warned.err, HasSubstr("warning: not in the output: the order of fields"));
  std::vector<std::string> strict = huffyuv;
  strict.push_back("--strict-metadata");
  const Outcome refused = denoise("in.y4m", "strict.nut", strict);
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.error_lines(), 1) << refused.err;
  EXPECT_THAT(folder.names(), ::testing::Not(::testing::Contains(HasSubstr("strict"))));
}

}  // namespace
}  // namespace lull::tools
