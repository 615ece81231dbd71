// Tests two files in one process: FFmpeg's messages about one file must not be attributed to the
// other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/ffmpeg/ffmpeg_log.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

/// Returns a clip in FFV1 with checksums. FFV1's decoder only logs a message when a checksum is
/// wrong.
ClipSpec checksummed_clip() {
  ClipSpec spec;
  spec.frames = 20;
  spec.encoder_options = {{"level", "3"}, {"slicecrc", "1"}, {"slices", "4"}};
  return spec;
}

/// Damages the picture data in the middle of a file.
void damage(const std::string& path) {
  auto bytes = read_file(path);
  for (int i = 0; i < 4; ++i) bytes[bytes.size() / 2 + i] ^= 0x5a;
  write_file(path, bytes);
}

class TwoFiles : public testing::Test {
 protected:
  TwoFiles() {
    make_clip(folder / "clean.mkv", checksummed_clip());
    make_clip(folder / "bad.mkv", checksummed_clip());
    damage(folder / "bad.mkv");
  }
  std::unique_ptr<MediaSource> open(const char* name, int threads) {
    return open_source(folder / name, {.threads = threads, .tolerate_damage = true});
  }
  const TemporaryFolder folder;
};

// The files are read alternately, so that every message about one file comes between two frames of
// the other file.
TEST_F(TwoFiles, DamageIsAttributedToTheDamagedFile) {
  for (const int threads : {1, 4}) {
    SCOPED_TRACE(threads);
    const auto bad = open("bad.mkv", threads), clean = open("clean.mkv", threads);
    int frames = 0;
    for (bool more = true; more;) {
      more = bad->read().has_value();
      if (clean->read()) ++frames;
    }
    while (clean->read()) ++frames;
    EXPECT_EQ(frames, 20);
    EXPECT_GE(bad->damage().frames, 1);
    EXPECT_THAT(bad->damage().first, testing::HasSubstr("bad.mkv"));
    EXPECT_EQ(clean->damage().frames, 0) << clean->damage().first;
  }
}

TEST_F(TwoFiles, TruncationOfOneDoesNotAffectTheOther) {
  auto bytes = read_file(folder / "clean.mkv");
  bytes.resize(bytes.size() * 2 / 3);
  write_file(folder / "cut.mkv", bytes);
  const auto clean = open("clean.mkv", 1), cut = open("cut.mkv", 1);
  while (cut->read()) continue;
  while (clean->read()) continue;
  EXPECT_GT(cut->damage().frames, 0);
  EXPECT_EQ(clean->damage().frames, 0) << clean->damage().first;
}

TEST(LogTopics, AreKeptApart) {
  capture_ffmpeg_log();
  const LogTopic one, other;
  int mark = 0;
  std::string heard;
  const LogTopic::Mark marks(other, &mark,
                             [&](const void*, bool is_error, const std::string& text) {
                               heard += (is_error ? "error " : "warning ") + text;
                             });
  const LogWatch of_one(one), of_other(other), of_thread;
  const CodecPtr marked(avcodec_alloc_context3(nullptr)), plain(avcodec_alloc_context3(nullptr));
  marked->opaque = &mark;
  int foreign = 0;
  plain->opaque = &foreign;  // set by other code
  {
    const LogTopic::Scope scope(one);
    av_log(nullptr, AV_LOG_ERROR, "by scope\n");
    av_log(marked.get(), AV_LOG_ERROR, "by mark\n");
    av_log(plain.get(), AV_LOG_ERROR, "by scope too\n");
  }
  av_log(nullptr, AV_LOG_ERROR, "by nobody\n");
  EXPECT_EQ(of_one.first_error(), "by scope");
  EXPECT_EQ(of_one.last_error(), "by scope too");
  EXPECT_EQ(of_other.first_error(), "by mark");
  EXPECT_EQ(of_other.last_error(), "by mark");
  EXPECT_EQ(of_thread.last_error(), "by nobody");
  EXPECT_EQ(heard, "error by mark");
}

}  // namespace
}  // namespace lull::io::test
