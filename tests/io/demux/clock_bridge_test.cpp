// Tests that packets continue without a gap where the timestamps of the input jump, and that all
// streams stay synchronised.

#include "io/demux/clock_bridge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace lull::io::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int video = 0, audio = 1, subtitles = 2;
constexpr std::int64_t second = 90000, frame = 3600, block = 2160;  // ticks of MPEG-TS

/// Streams of a transport stream: video of 25 frames a second, audio in blocks of 24 ms, subtitles.
class ClockBridgeTest : public testing::Test {
 protected:
  void SetUp() override {
    context_.reset(avformat_alloc_context());
    context_->iformat = av_find_input_format("mpegts");
    for (const AVMediaType type : {AVMEDIA_TYPE_VIDEO, AVMEDIA_TYPE_AUDIO, AVMEDIA_TYPE_SUBTITLE}) {
      AVStream* stream = avformat_new_stream(context_.get(), nullptr);
      stream->codecpar->codec_type = type;
      stream->time_base = {1, 90000};
      stream->pts_wrap_bits = 33;
    }
    restart(false);
  }
  void restart(bool keeps_gaps) { bridge_.emplace(*context_, video, keeps_gaps); }

  void push(int stream, std::int64_t dts, std::int64_t delay = 0, int flags = 0) {
    PacketPtr packet = make_packet();
    packet->stream_index = stream;
    packet->dts = dts;
    packet->pts = dts + delay;
    packet->duration = stream == video ? frame : stream == audio ? block : second;
    packet->flags = flags;
    bridge_->push(std::move(packet));
    collect();
  }
  /// Pushes a recording of `frames` frames. The audio begins with the video, or earlier by `lead`.
  void push_recording(std::int64_t start, int frames, std::int64_t lead = 0) {
    std::int64_t sound = start - lead;
    for (int i = 0; i < frames; ++i) {
      push(video, start + i * frame);
      for (; sound < start + (i + 1) * frame; sound += block) push(audio, sound);
    }
  }
  void finish() {
    bridge_->finish();
    collect();
  }
  void collect() {
    while (PacketPtr packet = bridge_->pop())
      times_[static_cast<std::size_t>(packet->stream_index)].push_back(packet->pts),
          flags_ |= packet->flags;
  }
  /// Returns the maximum difference between a step of the video's times and the duration of a
  /// frame.
  std::int64_t irregularity() const {
    std::int64_t largest = 0;
    for (std::size_t i = 1; i < times_[video].size(); ++i)
      largest = std::max(largest, std::abs(times_[video][i] - times_[video][i - 1] - frame));
    return largest;
  }

  struct Free {
    void operator()(AVFormatContext* context) const noexcept { avformat_free_context(context); }
  };
  std::unique_ptr<AVFormatContext, Free> context_;
  std::optional<ClockBridge> bridge_;
  std::array<std::vector<std::int64_t>, 3> times_;  // times of the returned packets, by stream
  int flags_ = 0;
};

TEST_F(ClockBridgeTest, ContinuousClockIsUnchanged) {
  push_recording(7 * second, 50);
  push(subtitles, 8 * second);
  finish();
  ASSERT_THAT(times_[video], SizeIs(50));
  EXPECT_EQ(times_[video].front(), 7 * second);
  EXPECT_EQ(irregularity(), 0);
  EXPECT_THAT(times_[subtitles], ElementsAre(8 * second));
  EXPECT_THAT(bridge_->jumps(), IsEmpty());
}

class Jump : public ClockBridgeTest, public testing::WithParamInterface<double> {};

// The second recording begins at 100 s plus the parameter; the first one ends at 102 s.
TEST_P(Jump, VideoContinuesAfterOneFrameAndAudioStaysSynchronous) {
  const auto start = static_cast<std::int64_t>((100 + GetParam()) * second);
  push_recording(100 * second, 50);
  push_recording(start, 50);
  finish();
  ASSERT_THAT(times_[video], SizeIs(100));
  EXPECT_EQ(irregularity(), 0);
  ASSERT_THAT(bridge_->jumps(), SizeIs(1));
  const ClockJump& jump = bridge_->jumps().front();
  EXPECT_NEAR(jump.time_s, 2, 1e-9);
  EXPECT_NEAR(jump.from_s, 102, 1e-9);
  EXPECT_NEAR(jump.to_s, 100 + GetParam(), 1e-9);
  // Both streams of the second recording have the same offset.
  EXPECT_EQ(times_[audio].back() - times_[video].back(), [&] {
    const std::int64_t last = start + 49 * frame;
    return start + (last + frame - 1 - start) / block * block - last;
  }());
  for (std::size_t i = 1; i < times_[audio].size(); ++i) {
    EXPECT_GT(times_[audio][i], times_[audio][i - 1]);
    EXPECT_LT(times_[audio][i] - times_[audio][i - 1], 2 * block);
  }
}

INSTANTIATE_TEST_SUITE_P(Seconds, Jump, testing::Values(-90., -1.5, 0., 1.5, 13., 3600., 95000.));

TEST_F(ClockBridgeTest, AudioThatJumpsFirstWaitsForTheVideo) {
  push_recording(100 * second, 50);
  for (int i = 0; i < 5; ++i) push(audio, 5 * second + i * block);
  EXPECT_THAT(times_[audio], SizeIs(84));
  push_recording(5 * second + 5 * block, 50);
  finish();
  EXPECT_THAT(times_[video], SizeIs(100));
  EXPECT_EQ(irregularity(), 0);
  EXPECT_THAT(bridge_->jumps(), SizeIs(1));
  // The audio blocks before the video overlap with the first recording, whose last block ends 16 ms
  // after its last frame. Most of the block that begins with the video also overlaps.
  EXPECT_EQ(times_[audio][84], 102 * second + block);
}

TEST_F(ClockBridgeTest, FramesThatAreReorderedDoNotOverlap) {
  push_recording(100 * second, 50);
  // Decoding order: I P B B P B B P, with the I frame two frames after its decoding time.
  const std::array<std::int64_t, 8> delays = {2, 4, 1, 1, 4, 1, 1, 2};
  for (std::size_t i = 0; i < delays.size(); ++i)
    push(video, 5 * second + static_cast<std::int64_t>(i) * frame, delays[i] * frame);
  finish();
  std::ranges::sort(times_[video]);
  EXPECT_THAT(times_[video], SizeIs(58));
  EXPECT_EQ(irregularity(), 0);
}

TEST_F(ClockBridgeTest, SingleWrongTimeIsReplaced) {
  push_recording(100 * second, 10);
  push(video, 7000 * second);
  push(video, 100 * second + 11 * frame);
  push(audio, 3 * second);
  push(audio, 100 * second + 18 * block);
  finish();
  EXPECT_THAT(times_[video], SizeIs(12));
  EXPECT_EQ(irregularity(), 0);
  ASSERT_THAT(times_[audio], SizeIs(19));
  EXPECT_EQ(times_[audio][17], 100 * second + 17 * block);
  EXPECT_THAT(bridge_->jumps(), IsEmpty());
}

TEST_F(ClockBridgeTest, StreamThatJumpsAloneContinues) {
  push_recording(100 * second, 10);
  for (int i = 0; i < 500; ++i) {
    push(video, 100 * second + (10 + i) * frame);
    if (i % 2 == 0) push(audio, 50 * second + i / 2 * block);
  }
  finish();
  EXPECT_THAT(times_[video], SizeIs(510));
  EXPECT_EQ(irregularity(), 0);
  ASSERT_THAT(bridge_->jumps(), SizeIs(1));
  EXPECT_EQ(bridge_->jumps().front().stream, audio);
  EXPECT_THAT(times_[audio], SizeIs(17 + 250));
  EXPECT_EQ(times_[audio][17], times_[audio][16] + block);
}

TEST_F(ClockBridgeTest, LongSilenceIsNoJump) {
  push_recording(100 * second, 25);
  for (int i = 25; i < 1000; ++i) push(video, 100 * second + i * frame);
  push(audio, 139 * second);
  finish();
  EXPECT_EQ(times_[audio].back(), 139 * second);
  EXPECT_THAT(bridge_->jumps(), IsEmpty());
}

TEST_F(ClockBridgeTest, SlideShowWithAudioIsNoJump) {
  for (int i = 0; i < 3; ++i) {
    push(video, (100 + 20 * i) * second);
    for (int k = 0; k < 833; ++k) push(audio, (100 + 20 * i) * second + k * block);
  }
  finish();
  EXPECT_THAT(times_[video], ElementsAre(100 * second, 120 * second, 140 * second));
  EXPECT_THAT(bridge_->jumps(), IsEmpty());
}

TEST_F(ClockBridgeTest, SubtitlesFollowTheVideo) {
  push_recording(100 * second, 50);
  push(subtitles, 101 * second);
  push_recording(5 * second, 50);
  push(subtitles, 6 * second);
  finish();
  EXPECT_THAT(times_[subtitles], ElementsAre(101 * second, 103 * second));
}

// The demuxer itself adds 2^33 ticks after an overflow of the counter.
TEST_F(ClockBridgeTest, OverflowIsReportedAndContinuous) {
  push_recording((std::int64_t{1} << 33) - 10 * frame, 50);
  finish();
  EXPECT_THAT(times_[video], SizeIs(50));
  EXPECT_EQ(irregularity(), 0);
  ASSERT_THAT(bridge_->jumps(), SizeIs(1));
  EXPECT_TRUE(bridge_->jumps().front().wraps);
  EXPECT_NEAR(bridge_->jumps().front().time_s, 0.4, 1e-9);
  EXPECT_NEAR(bridge_->jumps().front().to_s, 0, 1e-9);
}

TEST_F(ClockBridgeTest, KeptGapsAreUnchangedButTimesNeverGoBack) {
  restart(true);
  push_recording(100 * second, 50);
  push_recording(200 * second, 50);
  EXPECT_EQ(times_[video].back(), 200 * second + 49 * frame);
  EXPECT_THAT(bridge_->jumps(), IsEmpty());
  push_recording(20 * second, 50);
  finish();
  EXPECT_THAT(bridge_->jumps(), SizeIs(1));
  EXPECT_EQ(times_[video].back(), 200 * second + 99 * frame);
}

// The numbers of transport packets do not continue where two recordings are joined, so the demuxer
// marks the packet there as damaged.
TEST_F(ClockBridgeTest, OnlyMarksOfDamageAtAJumpAreRemoved) {
  push_recording(100 * second, 50);
  push(video, 102 * second, 0, AV_PKT_FLAG_CORRUPT);
  push_recording(5 * second, 50);
  finish();
  EXPECT_EQ(flags_ & AV_PKT_FLAG_CORRUPT, 0);
  EXPECT_THAT(times_[video], SizeIs(101));
  push(video, 5 * second + 50 * frame, 0, AV_PKT_FLAG_CORRUPT);
  push(video, 5 * second + 51 * frame);
  finish();
  EXPECT_NE(flags_ & AV_PKT_FLAG_CORRUPT, 0);
  EXPECT_EQ(irregularity(), 0);
}

TEST_F(ClockBridgeTest, FormatsWithoutJumpsPassUnchanged) {
  context_->iformat = av_find_input_format("matroska");
  restart(false);
  push_recording(100 * second, 2);
  push_recording(5 * second, 2);
  EXPECT_THAT(times_[video],
              ElementsAre(100 * second, 100 * second + frame, 5 * second, 5 * second + frame));
}

}  // namespace
}  // namespace lull::io::test
