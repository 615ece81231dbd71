// Tests defects that players ignore: meaningless bytes after the end, and a recording that begins
// in the middle of a packet. A truncated file must nevertheless be detected.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/support/clip.h"

namespace lull::io::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

ClipSpec spec_of(const std::string& name) {
  ClipSpec spec;
  spec.frames = 25;
  if (name == "a.gif") {
    spec.encoder = "gif";
    spec.format = AV_PIX_FMT_RGB8;
  } else if (name == "a.ogg") {
    spec.encoder = "libtheora";
  } else if (name == "a.flv") {
    spec.encoder = "flv";
  } else if (name == "a.ts") {
    spec.encoder = "mpeg2video";
    spec.audio = "mp2";
  }
  return spec;
}

Bytes junk(std::size_t count, std::uint8_t fill) { return Bytes(count, fill); }

Bytes random_bytes(std::size_t count) {
  Bytes bytes(count);
  std::uint32_t state = 5;
  // The bytes must not resemble the beginning of a transport-stream packet or an FLV tag.
  for (auto& byte : bytes)
    byte = static_cast<std::uint8_t>(0x80 | (state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

class TrailingBytes : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const ClipSpec spec = spec_of(GetParam());
    if (!has_encoder(spec.encoder.c_str())) GTEST_SKIP() << "this FFmpeg lacks " << spec.encoder;
    make_clip(path, spec);
    bytes = read_file(path);
    frames = count_frames(path);
    ASSERT_GE(frames, 24);
  }
  const TemporaryFolder folder;
  const std::string path = folder / GetParam();
  Bytes bytes;
  int frames = 0;
};

TEST_P(TrailingBytes, AreNotReportedAsDamage) {
  const std::string id3 = "TAG" + std::string(125, ' ');
  for (const Bytes& tail : {junk(1, 0), junk(7, 0), junk(100, 0xff), junk(5000, 0), random_bytes(3),
                            random_bytes(20), random_bytes(400), Bytes(id3.begin(), id3.end())}) {
    SCOPED_TRACE(std::to_string(tail.size()) + " of " + std::to_string(tail[0]));
    Bytes longer = bytes;
    longer.insert(longer.end(), tail.begin(), tail.end());
    write_file(path, longer);
    EXPECT_EQ(count_frames(path), frames);
  }
}

TEST_P(TrailingBytes, DoNotHideATruncation) {
  const std::size_t n = bytes.size();
  for (const std::size_t missing :
       {std::size_t{1}, std::size_t{3}, std::size_t{50}, n / 7, n / 2}) {
    SCOPED_TRACE(missing);
    if (GetParam() == "a.ts" && missing % 188 == 0) continue;  // a cut between two packets
    write_file(path, {bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(missing)});
    EXPECT_THROW(count_frames(path), BadData);
  }
}

INSTANTIATE_TEST_SUITE_P(Media, TrailingBytes, testing::Values("a.gif", "a.ogg", "a.flv", "a.ts"),
                         [](const auto& info) { return info.param.substr(2); });

TEST(TransportStream, MayBeginInTheMiddleOfAPacket) {
  const TemporaryFolder folder;
  const ClipSpec spec = spec_of("a.ts");
  make_clip(folder / "a.ts", spec);
  const Bytes bytes = read_file(folder / "a.ts");
  for (const int missing : {1, 60, 187}) {
    SCOPED_TRACE(missing);
    // The last 188 - `missing` bytes of a packet precede the first complete packet.
    Bytes late(bytes.begin() + 188 * 3 + missing, bytes.begin() + 188 * 4);
    late.insert(late.end(), bytes.begin(), bytes.end());
    write_file(folder / "late.ts", late);
    EXPECT_EQ(count_frames(folder / "late.ts"), 25);
    late.resize(late.size() - 20);
    write_file(folder / "late.ts", late);
    EXPECT_THROW(count_frames(folder / "late.ts"), BadData);
  }
}

}  // namespace
}  // namespace lull::io::test
