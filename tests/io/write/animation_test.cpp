// Tests animated pictures: how often a player shows them, how long it shows the last picture, and
// which losses lull reports.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/support/clip.h"

namespace lull::io::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int endless = 0;

ClipSpec animation(const std::string& encoder, AVPixelFormat format) {
  ClipSpec spec;
  spec.encoder = encoder;
  spec.format = format;
  spec.frames = 4;
  spec.time_base = {1, 100};
  spec.frame_rate = {0, 1};
  spec.pts = {0, 10, 15, 35};
  return spec;
}

std::string animation_text(const std::string& path) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

int byte_at(const std::string& text, std::size_t at) {
  return static_cast<unsigned char>(text.at(at));
}

/// Returns the number of plays that a GIF, APNG or WebP file states.
int plays_of(const std::string& path) {
  const std::string text = animation_text(path);
  if (const std::size_t at = text.find("acTL"); at != text.npos)
    return byte_at(text, at + 10) << 8 | byte_at(text, at + 11);
  if (const std::size_t at = text.find("ANIM"); at != text.npos)
    return byte_at(text, at + 12) | byte_at(text, at + 13) << 8;
  const std::size_t at = text.find("NETSCAPE2.0");
  if (at == text.npos) return 1;
  const int repetitions = byte_at(text, at + 13) | byte_at(text, at + 14) << 8;
  return repetitions == 0 ? endless : repetitions + 1;
}

/// Returns the duration of the last picture of a GIF or APNG file in seconds.
double last_duration_of(const std::string& path) {
  const std::string text = animation_text(path);
  if (const std::size_t at = text.rfind("fcTL"); at != text.npos)
    return (byte_at(text, at + 24) * 256.0 + byte_at(text, at + 25)) /
           (byte_at(text, at + 26) * 256.0 + byte_at(text, at + 27));
  const std::size_t at = text.rfind("\x21\xF9\x04");
  return (byte_at(text, at + 4) + 256.0 * byte_at(text, at + 5)) / 100;
}

class Animation : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!has_encoder("gif") || !has_encoder("apng")) GTEST_SKIP() << "this FFmpeg lacks encoders";
    // The option of GIF is the number of repetitions, or -1 for none.
    ClipSpec gif = animation("gif", AV_PIX_FMT_RGB8);
    const int repetitions = GetParam() == 1 ? -1 : std::max(GetParam() - 1, 0);
    gif.muxer_options = {{"loop", std::to_string(repetitions)}, {"final_delay", "70"}};
    make_clip(folder / "in.gif", gif);
    ClipSpec apng = animation("apng", AV_PIX_FMT_RGBA);
    apng.muxer_options = {{"plays", std::to_string(GetParam())}, {"final_delay", "7/10"}};
    make_clip(folder / "in.apng", apng);
  }
  TemporaryFolder folder;
};
INSTANTIATE_TEST_SUITE_P(Plays, Animation, testing::Values(endless, 1, 3));

TEST_P(Animation, KeepsTheNumberOfPlays) {
  for (const std::string from : {"gif", "apng"}) {
    ASSERT_EQ(plays_of(folder / ("in." + from)), GetParam());
    for (const std::string to : {"gif", "apng", "webp"}) {
      if (to == "webp" && !has_encoder("libwebp_anim")) continue;
      const std::string out = folder / ("out." + to);
      EXPECT_EQ(transcode(folder / ("in." + from), out, {.overwrite = true}), 4);
      EXPECT_EQ(plays_of(out), GetParam()) << from << " to " << to;
    }
  }
}

TEST_P(Animation, KeepsTheDurationOfTheLastPicture) {
  for (const std::string from : {"gif", "apng"}) {
    ASSERT_NEAR(last_duration_of(folder / ("in." + from)), 0.7, 1e-3);
    for (const std::string to : {"gif", "apng"}) {
      const std::string out = folder / ("out." + to);
      transcode(folder / ("in." + from), out, {.overwrite = true});
      EXPECT_NEAR(last_duration_of(out), 0.7, 1e-3) << from << " to " << to;
    }
  }
}

TEST_P(Animation, OptionsOfTheUserHavePrecedence) {
  const std::string out = folder / "out.apng";
  transcode(folder / "in.gif", out, {.vopts = {{"plays", "5"}, {"final_delay", "3/10"}}});
  EXPECT_EQ(plays_of(out), 5);
  EXPECT_NEAR(last_duration_of(out), 0.3, 1e-3);
}

TEST_P(Animation, ReportsLostTransparencyOfGifs) {
  make_clip(folder / "opaque.apng", animation("apng", AV_PIX_FMT_RGB24));
  const auto losses_of = [&](const std::string& name) {
    const auto source = open_source(folder / name);
    return open_sink(folder / "out.gif", *source, {})->losses();
  };
  EXPECT_THAT(losses_of("in.apng"), ElementsAre(HasSubstr("colours and transparency")));
  EXPECT_THAT(losses_of("opaque.apng"), ElementsAre(Not(HasSubstr("transparency"))));
}

}  // namespace
}  // namespace lull::io::test
