#pragma once
// Selects parts of a video, and shifts the timestamps of all streams so that the parts follow each
// other without gaps.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"

namespace lull::io {

/// Decides which frames and packets the output contains, and makes the timestamps of the selected
/// parts continuous. The decoding thread calls `judge_frame()`. The muxing thread calls
/// `judge_packet()`.
class FrameSelector {
 public:
  /// @param tick  seconds per tick of the frames' times
  FrameSelector(const Selection& selection, AVRational tick) : selection_(selection), tick_(tick) {}

  enum class Verdict { keep, drop, end };  // end: neither this frame nor a later one is kept
  /// Returns whether the output contains frame `number` of the input. For such a frame, the
  /// function converts `pts` from the time of the input to the time of the output. The caller must
  /// pass the frames in presentation order.
  Verdict judge_frame(std::int64_t number, std::int64_t& pts, std::int64_t duration);
  /// Ends the selection. The caller must call this function after the last frame of the input.
  void finish();
  /// Returns the end of the last kept frame so far, in ticks of the input.
  std::int64_t end() const;

  enum class PacketVerdict { keep, drop, wait };  // wait: the verdict depends on a later frame
  /// Decides whether the output contains a packet: whether the packet begins in a selected part, or
  /// is a subtitle that overlaps a selected part. For such a packet, the function shifts the times.
  /// It also shortens a subtitle to the selected part.
  /// @param tick  seconds per tick of the packet's times
  PacketVerdict judge_packet(AVPacket& packet, AVRational tick, bool subtitle) const;
  /// Returns whether `judge_packet()` would drop the packet, given the frames that `judge_frame()`
  /// has judged so far.
  bool drops_packet(const AVPacket& packet, AVRational tick, bool subtitle) const {
    return change_of(packet, tick, subtitle).verdict == PacketVerdict::drop;
  }
  /// Converts `pts` of a kept frame from the time of the output to the time of the input.
  std::int64_t input_time(std::int64_t pts) const;

 private:
  struct PacketChange {
    PacketVerdict verdict;
    std::int64_t shift = 0, duration = 0;  // for kept packets
  };
  PacketChange change_of(const AVPacket& packet, AVRational tick, bool subtitle) const;

  struct Part {
    std::int64_t from, to;  // in ticks of the input; `to` is the end of the last frame
    std::int64_t shift;     // added to the input's times
    // If `from_start` is true, the part begins with the first frame of the input, and also contains
    // all earlier packets of the other streams. If `to_end` is true, the part ends with the last
    // frame of the input, and also contains all later packets of the other streams.
    bool from_start = false, to_end = false;
  };
  Verdict verdict_for(std::int64_t number, std::int64_t since_start);

  const Selection selection_;
  const AVRational tick_;
  std::size_t range_ = 0;   // index of the current range of the selection
  bool open_ = false;       // whether the last frame was kept
  std::int64_t first_ = 0;  // time of the input's first frame

  mutable std::mutex mutex_;
  std::vector<Part> parts_;
  std::int64_t decided_ = INT64_MIN;  // in ticks; the verdict on everything before is known
  bool finished_ = false;
};

}  // namespace lull::io
