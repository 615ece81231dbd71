// Tests the relay of packets to the muxer: the number of packets is unlimited, and the memory for
// them is bounded.

#include "io/demux/packet_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "io/read/source.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

PacketPtr packet(int stream, std::int64_t time, int bytes) {
  PacketPtr p = make_packet();
  if (av_new_packet(p.get(), bytes) < 0) throw std::bad_alloc();
  for (int i = 0; i < bytes; ++i) p->data[i] = static_cast<std::uint8_t>(time * 7 + i * stream);
  p->stream_index = stream;
  p->pts = time;
  p->dts = time - 1;
  p->duration = 3;
  p->flags = AV_PKT_FLAG_KEY;
  if (time % 3 == 0) {
    std::uint8_t* data = av_packet_new_side_data(p.get(), AV_PKT_DATA_SKIP_SAMPLES, 10);
    std::fill_n(data, 10, static_cast<std::uint8_t>(time));
  }
  return p;
}

void expect_equal(const AVPacket& a, const AVPacket& b) {
  EXPECT_EQ(a.stream_index, b.stream_index);
  EXPECT_EQ(a.pts, b.pts);
  EXPECT_EQ(a.dts, b.dts);
  EXPECT_EQ(a.duration, b.duration);
  EXPECT_EQ(a.flags, b.flags);
  ASSERT_EQ(a.size, b.size);
  EXPECT_TRUE(std::equal(a.data, a.data + a.size, b.data));
  ASSERT_EQ(a.side_data_elems, b.side_data_elems);
  for (int i = 0; i < a.side_data_elems; ++i) {
    ASSERT_EQ(a.side_data[i].size, b.side_data[i].size);
    EXPECT_EQ(a.side_data[i].type, b.side_data[i].type);
    EXPECT_TRUE(std::equal(a.side_data[i].data, a.side_data[i].data + a.side_data[i].size,
                           b.side_data[i].data));
  }
}

TEST(PacketRelay, SpillsToAFileBeyondItsMemoryLimit) {
  constexpr std::int64_t most = 1 << 16;
  constexpr int count = 1000, bytes = 1000;
  const TemporaryFolder folder;
  PacketRelay relay(most, folder.path().string());
  relay.attach();
  int next = 0;
  const auto expect_next = [&](const AVPacket& p) {
    expect_equal(p, *packet(next % 3, next, bytes));
    ++next;
  };
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < count; ++i) {
      relay.put(packet(i % 3, i, bytes));
      ASSERT_LE(relay.bytes(), most);
    }
    EXPECT_TRUE(folder.files().empty());  // the spill file has no name
    next = 0;
    for (auto some = relay.take(); !some.empty(); some = relay.take()) {
      ASSERT_LE(relay.bytes(), most);
      for (const PacketPtr& p : some) expect_next(*p);
    }
    EXPECT_EQ(next, count);
  }
}

TEST(PacketRelay, ReturnsDuePacketsInOrder) {
  PacketRelay relay(1 << 20, {});
  relay.attach();
  for (const auto& [stream, time] : {std::pair{1, 10}, {2, 50}, {1, 20}, {2, 15}, {1, 60}})
    relay.put(packet(stream, time, 8));
  const auto due = [](std::int64_t end) { return [=](const AVPacket& p) { return p.pts < end; }; };
  const auto times = [](const std::vector<PacketPtr>& packets) {
    std::vector<std::int64_t> result;
    for (const PacketPtr& p : packets) result.push_back(p->pts);
    return result;
  };
  using Times = std::vector<std::int64_t>;
  EXPECT_EQ(times(relay.take(due(30))), (Times{10, 20}));  // 15 stays behind 50
  EXPECT_EQ(times(relay.take(due(30))), Times{});
  EXPECT_EQ(times(relay.take(due(55))), (Times{50, 15}));
  EXPECT_EQ(times(relay.take()), Times{60});
}

TEST(PacketRelay, ErrorNamesTheUnusableSpillFolder) {
  PacketRelay relay(1000, "/no/such/folder");
  relay.attach();
  relay.put(packet(1, 1, 900));
  try {
    relay.put(packet(1, 2, 900));
    FAIL() << "a file in a folder that is not there";
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/no/such/folder"));
    EXPECT_THAT(error.what(), testing::HasSubstr("--max-memory"));
  }
}

// Twelve seconds of sound with three frames in the first second.
TEST(PacketRelay, StaysSmallWhileSoundContinuesWithoutFrames) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 3;
  spec.audio = "pcm_s16le";
  spec.audio_seconds = 12;
  make_clip(folder / "in.mkv", spec);
  SourceOptions options;
  options.limits.memory = 1 << 20;
  options.scratch = folder.path().string();
  const auto source = open_source(folder / "in.mkv", options);
  const PacketRelay& relay = dynamic_cast<FileSource&>(*source).demuxer().relay();
  const std::int64_t most = PacketRelay::memory_limit(options.limits.memory);
  ASSERT_LE(most, 1 << 17);
  const auto sink = open_sink(folder / "out.mkv", *source, {.lossless = true});
  while (auto frame = source->read()) {
    EXPECT_LE(relay.bytes(), most);
    sink->write(*std::move(frame));
    EXPECT_LE(relay.bytes(), most);
  }
  EXPECT_LE(relay.bytes(), most);
  sink->finish();
  const auto in = read_packets(folder / "in.mkv"), out = read_packets(folder / "out.mkv");
  ASSERT_GT(in[1].packets.size(), 500u);
  EXPECT_EQ(in[1].packets, out[1].packets);
}

/// Rewrites a file with its packets in the order of their timestamps.
void put_in_order(const std::string& from, const std::string& to) {
  AVFormatContext* input = nullptr;
  AVFormatContext* output = nullptr;
  ASSERT_GE(avformat_open_input(&input, from.c_str(), nullptr, nullptr), 0);
  ASSERT_GE(avformat_find_stream_info(input, nullptr), 0);
  ASSERT_GE(avformat_alloc_output_context2(&output, nullptr, nullptr, to.c_str()), 0);
  std::vector<PacketPtr> packets;
  for (PacketPtr p = make_packet(); av_read_frame(input, p.get()) >= 0; p = make_packet())
    packets.push_back(std::move(p));
  // all timestamps are in ms
  std::ranges::stable_sort(packets, {}, [](const PacketPtr& p) { return p->dts; });
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    AVStream* stream = avformat_new_stream(output, nullptr);
    avcodec_parameters_copy(stream->codecpar, input->streams[i]->codecpar);
    stream->time_base = input->streams[i]->time_base;
  }
  ASSERT_GE(avio_open(&output->pb, to.c_str(), AVIO_FLAG_WRITE), 0);
  ASSERT_GE(avformat_write_header(output, nullptr), 0);
  for (const PacketPtr& p : packets) ASSERT_GE(av_write_frame(output, p.get()), 0);
  ASSERT_GE(av_write_trailer(output), 0);
  avio_closep(&output->pb);
  avformat_free_context(output);
  avformat_close_input(&input);
}

// The streams are interleaved in the same way however far the decoder is ahead of the encoder.
TEST(PacketRelay, OrderDoesNotDependOnSpeedOfDecoderAndEncoder) {
  const TemporaryFolder folder;
  ClipSpec spec;
  spec.frames = 4;
  spec.pts = {0, 500, 510, 1000};  // frames of 1/25 s
  spec.audio = "pcm_s16le";
  spec.audio_seconds = 50;
  make_clip(folder / "some.mkv", spec);
  put_in_order(folder / "some.mkv", folder / "in.mkv");
  for (const bool ahead : {false, true}) {
    const auto source = open_source(folder / "in.mkv", {.threads = 1});
    const auto sink =
        open_sink(folder / (ahead ? "ahead.mkv" : "turns.mkv"), *source, {.lossless = true});
    std::vector<Frame> frames;
    while (auto frame = source->read())
      ahead ? frames.push_back(*std::move(frame)) : sink->write(*std::move(frame));
    for (Frame& frame : frames) sink->write(std::move(frame));
    sink->finish();
  }
  EXPECT_TRUE(read_file(folder / "ahead.mkv") == read_file(folder / "turns.mkv"));
}

}  // namespace
}  // namespace lull::io::test
