// Tests damage in the structure of media files. FFmpeg's demuxers drop frames at such damage, and
// lull counts these frames. Intact files must have no faults, whatever the times of their frames.

#include "io/containers/container_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "io/support/clip.h"

namespace lull::io::test {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

constexpr int frames = 20;

struct Medium {
  std::string name, demuxer, encoder, audio;
  AVPixelFormat format = AV_PIX_FMT_YUV420P;
  std::vector<std::pair<std::string, std::string>> muxer_options;
};
std::ostream& operator<<(std::ostream& out, const Medium& m) { return out << m.name; }

ClipSpec spec_of(const Medium& m) {
  ClipSpec spec;
  spec.frames = frames;
  spec.encoder = m.encoder;
  spec.audio = m.audio;
  spec.format = m.format;
  spec.muxer_options = m.muxer_options;
  return spec;
}

const std::vector<Medium> media = {
    {"a.mkv", "matroska,webm", "ffv1", "pcm_s16le"},
    {"plain.mkv", "matroska,webm", "ffv1", "flac", AV_PIX_FMT_YUV420P, {{"write_crc32", "0"}}},
    {"a.nut", "nut", "ffv1", "pcm_s16le"},
    {"raw.nut", "nut", "rawvideo", ""},
    {"a.avi", "avi", "ffv1", "pcm_s16le"},
    {"a.gif", "gif", "gif", "", AV_PIX_FMT_RGB8},
    {"a.ts", "mpegts", "mpeg2video", "mp2"}};

class StructureDamage : public testing::TestWithParam<Medium> {
 protected:
  void SetUp() override {
    if (!has_encoder(GetParam().encoder.c_str())) GTEST_SKIP() << "this FFmpeg lacks the encoder";
    make_clip(path, spec_of(GetParam()));
    intact = read_file(path);
  }
  /// Returns the positions of the video packets in the file: of their data, for GIF of their first
  /// block.
  std::vector<std::size_t> packet_positions() const {
    AVFormatContext* context = nullptr;
    if (avformat_open_input(&context, path.c_str(), nullptr, nullptr) < 0) return {};
    avformat_find_stream_info(context, nullptr);
    std::vector<std::size_t> all;
    for (PacketPtr packet = make_packet(); av_read_frame(context, packet.get()) >= 0;
         av_packet_unref(packet.get()))
      if (packet->stream_index == 0 && packet->pos >= 0)
        all.push_back(static_cast<std::size_t>(packet->pos));
    avformat_close_input(&context);
    return all;
  }
  struct Result {
    int frames = 0;
    Damage damage;
  };
  Result read(const Bytes& bytes) const {
    write_file(path, bytes);
    Result result;
    const auto source = open_source(path, {.tolerate_damage = true});
    while (source->read()) ++result.frames;
    result.damage = source->damage();
    return result;
  }
  const TemporaryFolder folder;
  const std::string path = folder / GetParam().name;
  Bytes intact;
};

TEST_P(StructureDamage, IsNotFoundInAnIntactFile) {
  const auto walk = open_container_walk(path, GetParam().demuxer, 0);
  ASSERT_NE(walk, nullptr);
  for (std::uint64_t end = 0; end < intact.size(); end += 1000) walk->walk_to(end);
  walk->walk_to_end();
  EXPECT_EQ(walk->faults(), 0) << walk->first_fault();
  EXPECT_EQ(walk->video_packets().value_or(frames), frames);
  EXPECT_EQ(read(intact).damage.frames, 0);
}

TEST_P(StructureDamage, CountsTheFramesThatADemuxerDrops) {
  const std::vector<std::size_t> positions = packet_positions();
  ASSERT_GE(positions.size(), frames - 1U);
  int dropped = 0;
  for (std::size_t i = 3; i + 3 < positions.size(); i += 5)
    for (std::size_t at = positions[i] - 10; at < positions[i] + 4; ++at)
      for (const int bit : {1, 16}) {
        Bytes bad = intact;
        bad[at] ^= static_cast<std::uint8_t>(bit);
        try {
          const Result result = read(bad);
          dropped += result.frames < frames ? 1 : 0;
          EXPECT_GE(result.damage.frames, frames - result.frames)
              << "bit " << bit << " of byte " << at << ", packet at " << positions[i] << ": "
              << result.damage.first;
        } catch (const BadData&) {
        }
      }
  EXPECT_GT(dropped, 0);
}

INSTANTIATE_TEST_SUITE_P(Containers, StructureDamage, testing::ValuesIn(media),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(FrameTimes, MayHaveGapsInAnIntactFile) {
  const TemporaryFolder folder;
  for (const char* name : {"a.mkv", "a.nut"}) {
    ClipSpec spec;
    spec.pts = {0, 1, 2, 40, 41, 300, 301, 1000, 1001, 5000};
    make_clip(folder / name, spec);
    const auto source = open_source(folder / name, {.tolerate_damage = true});
    int count = 0;
    while (source->read()) ++count;
    EXPECT_EQ(count, 10);
    EXPECT_EQ(source->damage().frames, 0) << source->damage().first;
  }
}

TEST(FrameTimes, ThatDecreaseAreDamage) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "rawvideo";
  spec.muxer_options = {{"write_crc32", "0"}};
  make_clip(folder / "a.mkv", spec);
  Bytes bytes = read_file(folder / "a.mkv");
  // Each key frame has a cluster. The time of frame 5 is 200 ms: element 0xe7 of one byte.
  const std::uint8_t time[] = {0xe7, 0x81, 200};
  const auto found = std::search(bytes.begin(), bytes.end(), time, time + sizeof time);
  ASSERT_NE(found, bytes.end());
  found[2] = 20;
  write_file(folder / "a.mkv", bytes);
  const auto source = open_source(folder / "a.mkv", {.tolerate_damage = true});
  while (source->read()) continue;
  EXPECT_EQ(source->damage().frames, 1);
  EXPECT_THAT(source->damage().first, HasSubstr("time"));
  EXPECT_THROW(count_frames(folder / "a.mkv"), BadData);
}

TEST(MatroskaWalk, AcceptsALiveRecordingWithoutSizes) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.audio = "flac";
  spec.muxer_options = {{"live", "1"}};
  make_clip(folder / "live.mkv", spec);
  EXPECT_EQ(count_frames(folder / "live.mkv"), 10);
}

/// Returns a RIFF chunk. The chunk is a list of the type `list` if `list` is not empty.
Bytes chunk(const std::string& name, const Bytes& data, const std::string& list = {}) {
  Bytes bytes(name.begin(), name.end());
  for (int shift = 0; shift < 32; shift += 8)
    bytes.push_back(static_cast<std::uint8_t>((list.size() + data.size()) >> shift));
  bytes.insert(bytes.end(), list.begin(), list.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// DV with interleaved audio (type 1) has chunks of the type "__".
TEST(AviWalk, AcceptsTheChunksOfInterleavedDv) {
  const TemporaryFolder folder;
  make_clip(folder / "a.avi", {});
  Bytes bytes = read_file(folder / "a.avi");
  const std::string video = "00dc", interleaved = "00__";
  for (auto at = bytes.begin();
       (at = std::search(at, bytes.end(), video.begin(), video.end())) != bytes.end();)
    at = std::copy(interleaved.begin(), interleaved.end(), at);
  write_file(folder / "a.avi", bytes);
  EXPECT_EQ(count_frames(folder / "a.avi"), 10);
}

TEST(AviWalk, AcceptsIndexesAndPalettesOfAStream) {
  const TemporaryFolder folder;
  const Bytes index(24, 0), palette(12, 0), picture(10, 7);
  const Bytes streams = chunk("LIST", chunk("LIST", {}, "strl"), "hdrl");
  const Bytes movie =
      chunk("LIST",
            joined({chunk("00ix", index), chunk("00dc", picture), chunk("00pc", palette),
                    chunk("00dc", picture), chunk("ix00", index), chunk("00dc", picture)}),
            "movi");
  write_file(folder / "a.avi", chunk("RIFF", joined({streams, movie}), "AVI "));
  const auto walk = open_container_walk(folder / "a.avi", "avi", 0);
  ASSERT_NE(walk, nullptr);
  walk->walk_to_end();
  EXPECT_EQ(walk->faults(), 0) << walk->first_fault();
  EXPECT_EQ(walk->video_packets(), 3);
}

// Raw video has no checksum of its own.
TEST(MatroskaWalk, ComparesTheChecksumOfEachCluster) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.encoder = "rawvideo";
  make_clip(folder / "a.mkv", spec);
  Bytes bytes = read_file(folder / "a.mkv");
  bytes[bytes.size() / 2] ^= 1;
  write_file(folder / "a.mkv", bytes);
  const auto source = open_source(folder / "a.mkv", {.tolerate_damage = true});
  int count = 0;
  while (source->read()) ++count;
  EXPECT_EQ(count, 10);
  EXPECT_EQ(source->damage().frames, 1);
  EXPECT_THAT(source->damage().first, HasSubstr("checksum"));
}

}  // namespace
}  // namespace lull::io::test
