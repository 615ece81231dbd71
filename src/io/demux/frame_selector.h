#pragma once
// A part of a video: which frames stay, and how the times of all streams are joined without gaps.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"

namespace lull::io {

/// Judges frames in the thread that decodes, and packets of other streams in the one that muxes.
/// The frames of a range keep their distances; each range begins where the last frame of the one
/// before ends, the first where the input begins. Other packets move as the frames around them do.
class FrameSelector {
 public:
  /// `tick`: seconds per tick of the frames' times.
  FrameSelector(const Selection& selection, AVRational tick) : selection_(selection), tick_(tick) {}

  enum class Verdict { keep, drop, end };  // end: neither this nor a later frame stays
  /// For each frame in order of presentation, `number` from 0. Sets the time of one that stays.
  Verdict judge_frame(std::int64_t number, std::int64_t& pts, std::int64_t duration);
  /// No frame comes any more.
  void finish();
  /// Where the last range ends so far, in ticks.
  std::int64_t end() const;

  enum class PacketVerdict { keep, drop, wait };  // wait: frames that decide are still to come
  /// Of a packet that begins within a range; subtitles that reach into one are shortened. Moves it.
  /// `tick` is the packet's.
  PacketVerdict judge_packet(AVPacket& packet, AVRational tick, bool subtitle) const;
  /// Whether that is to drop it, as far as is known.
  bool drops_packet(const AVPacket& packet, AVRational tick, bool subtitle) const {
    return change_of(packet, tick, subtitle).verdict == PacketVerdict::drop;
  }
  /// Where in the input the frame was that now has this time.
  std::int64_t input_time(std::int64_t pts) const;

 private:
  struct PacketChange {
    PacketVerdict verdict;
    std::int64_t shift = 0, duration = 0;  // of one that stays
  };
  PacketChange change_of(const AVPacket& packet, AVRational tick, bool subtitle) const;

  struct Part {
    std::int64_t from, to;  // ticks of the input; to: the end of the last frame
    std::int64_t shift;     // what is added
    // With the input's first or last frame goes what other streams have before or after it.
    bool from_start = false, to_end = false;
  };
  Verdict verdict_for(std::int64_t number, std::int64_t since_start);

  const Selection selection_;
  const AVRational tick_;
  std::size_t range_ = 0;   // of the selection: those before are over
  bool open_ = false;       // the last frame stayed
  std::int64_t first_ = 0;  // the time of the input's first frame

  mutable std::mutex mutex_;
  std::vector<Part> parts_;
  std::int64_t decided_ = INT64_MIN;  // in ticks: all before is known
  bool finished_ = false;
};

}  // namespace lull::io
