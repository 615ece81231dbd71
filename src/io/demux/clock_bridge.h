#pragma once
// Removes discontinuities of timestamps, for example from joined recordings or restarted encoders.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "io/demux/clock_jump.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Removes jumps of the timestamps. After a jump, the bridge shifts the timestamps of all streams
/// by the same time. The video then continues directly after the last frame before the jump. The
/// bridge also drops overlapping audio packets. The bridge changes nothing in formats without
/// FFmpeg's flag AVFMT_TS_DISCONT.
class ClockBridge {
 public:
  /// @param context  must outlive this object
  /// @param video  index of the stream that determines the times after a jump
  /// @param keeps_gaps  if true, ClockBridge removes only backward jumps
  ClockBridge(const AVFormatContext& context, int video, bool keeps_gaps);

  /// Adds the next packet from the demuxer.
  void push(PacketPtr packet);
  /// Ends the input. The caller must call this function after the last packet.
  void finish();
  /// Returns the next packet with continuous timestamps; null if the bridge needs further packets
  /// first.
  PacketPtr pop();
  /// Discards all packets that `pop()` has not yet returned. The caller must call this function
  /// after each seek.
  void restart();
  const std::vector<ClockJump>& jumps() const { return jumps_; }

 private:
  struct Stream {
    std::size_t clock = 0;  // current section of continuous timestamps
    bool started = false;
    // Times in ticks of the stream, after the shift:
    // - `last`: decoding time of the latest packet
    // - `next`: expected decoding time of the next packet
    // - `end`: latest presentation end of all packets so far
    // - `duration`: duration of the latest packet
    std::int64_t last = 0, next = 0, end = 0, duration = 0;
    std::int64_t skip_until = INT64_MIN;  // packets before this time overlap with earlier ones
    std::deque<PacketPtr> held;           // packets that wait for the video
    std::int64_t held_since = 0;          // time of the video when the first waiting packet arrived
    // Packets that wait until ClockBridge has decided whether the timestamps jump: a packet that
    // the demuxer flagged as damaged, and the packets after it.
    std::deque<PacketPtr> doubtful;
  };

  Stream& state(int stream);
  const AVStream& stream_of(const AVPacket& packet) const;
  AVRational tick(int stream) const { return context_.streams[stream]->time_base; }
  AVRational video_tick() const { return tick(video_); }
  std::int64_t ticks(double seconds, int stream) const;
  std::int64_t offset(std::size_t clock, int stream) const;
  std::int64_t mapped(const AVPacket& packet, std::size_t clock) const;
  std::int64_t distance_to_video(const AVPacket& packet, std::size_t clock) const;
  bool is_continuous(const AVPacket& packet) const;
  bool agrees_with_audio(const AVPacket& packet) const;
  bool is_earlier_clock(const AVPacket& packet) const;
  bool follows(const AVPacket& before, const AVPacket& packet) const;
  std::optional<std::size_t> clock_for(const AVPacket& packet) const;

  void push_video(PacketPtr packet);
  void examine_suspects(bool at_end);
  bool is_settled(std::int64_t first_pts, bool at_end) const;
  void open_clock();
  void push_other(PacketPtr packet);
  void hold(PacketPtr packet);
  void release_held();
  void end_waiting(int stream);
  void give_own_clock(PacketPtr packet);
  void retime(PacketPtr packet);
  void change_clock(Stream& stream, std::size_t clock);
  void emit(PacketPtr packet);
  void deliver(Stream& stream, PacketPtr packet);
  void deliver_doubtful(Stream& stream);
  void remove_marks(Stream& stream);
  void note_wrap(const AVPacket& packet);
  double since_start(std::int64_t video_time) const;
  double clock_seconds(std::int64_t time, int stream) const;

  const AVFormatContext& context_;
  const int video_;
  const bool keeps_gaps_, can_jump_;
  // The time shifts of the clocks, in ticks of the video. A clock is a section of continuous time
  // stamps.
  std::vector<std::int64_t> offsets_{0};
  std::deque<Stream> streams_;
  std::deque<PacketPtr> suspects_;  // packets of the video after a possible jump
  std::deque<PacketPtr> ready_;
  std::int64_t first_ = 0;  // presentation time of the video's first packet
  std::vector<ClockJump> jumps_;
};

}  // namespace lull::io
