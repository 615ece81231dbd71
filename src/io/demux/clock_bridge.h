#pragma once
// Removes discontinuities from the time stamps of an input. They are caused by joined recordings or
// restarted encoders.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "io/demux/clock_jump.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Gives the packets of a demuxer continuous time stamps, even if those of the input jump. Packets
/// of formats whose time stamps cannot jump (without FFmpeg's AVFMT_TS_DISCONT) are not changed.
///
/// The video determines where the output continues after a jump: one frame duration after the last
/// frame before the jump. The time stamps of all other streams get the same offset, so these
/// streams stay synchronised with the video. If the time stamps of the audio jump first, the audio
/// packets wait until those of the video jump. Audio packets that would overlap with earlier ones
/// are dropped.
///
/// The demuxer marks the last packets before a jump as damaged, because the counters in the
/// transport packets do not continue there. The bridge removes these marks, because the decoder
/// detects real damage. The output depends only on the packets, not on the moments at which they
/// are pushed and popped.
class ClockBridge {
 public:
  /// @param video  index of the stream that determines the times after a jump
  /// @param keeps_gaps  if true, only backward jumps are corrected, and forward jumps are kept
  /// `context` must outlive this object.
  ClockBridge(const AVFormatContext& context, int video, bool keeps_gaps);

  /// Takes the next packet of the demuxer.
  void push(PacketPtr packet);
  /// Ends the input. The caller must call this function after the last packet.
  void finish();
  /// Returns the next packet; null if further packets are needed.
  PacketPtr pop();
  /// Discards all packets that wait inside the bridge. The caller must call this function after
  /// each seek.
  void restart();
  const std::vector<ClockJump>& jumps() const { return jumps_; }

 private:
  struct Stream {
    std::size_t clock = 0;  // current section of continuous time stamps
    bool started = false;
    // State of the stream after its most recently returned packet, in ticks of the stream: decoding
    // time of the packet, expected decoding time of the next packet, end of the presentation, and
    // duration of the packet.
    std::int64_t last = 0, next = 0, end = 0, duration = 0;
    std::int64_t skip_until = INT64_MIN;  // packets before this time overlap with earlier ones
    std::deque<PacketPtr> held;           // packets that wait for the video
    std::int64_t held_since = 0;          // time of the video when the first waiting packet arrived
    // A packet that the demuxer marked as damaged, and the packets after it. They wait until the
    // bridge knows whether the time stamps jump after the marked packet.
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
  // For each section of continuous time stamps, the offset that is added to its time stamps, in
  // ticks of the video. Code calls a section a clock.
  std::vector<std::int64_t> offsets_{0};
  std::deque<Stream> streams_;
  std::deque<PacketPtr> suspects_;  // packets of the video after a possible jump
  std::deque<PacketPtr> ready_;
  std::int64_t first_ = 0;  // presentation time of the video's first packet
  std::vector<ClockJump> jumps_;
};

}  // namespace lull::io
