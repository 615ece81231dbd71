#pragma once
// Applies edit lists (ISO/IEC 14496-12, 8.6.6) to copied streams. FFmpeg's demuxer also returns the
// packets that an edit list removes, and sets the discard flag of these packets.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Duration in microseconds of the packets that a decoder needs before the first kept packet. Opus
/// needs the longest time of all audio codecs in use: 80 ms (RFC 7845, 4.6).
inline constexpr std::int64_t preroll_us = 80000;

/// Passes packets without the discard flag to `output`. The filter also passes the preroll: the
/// packets directly before the first kept packet that a decoder needs in order to start. Preroll
/// packets keep the discard flag, so that containers can hide them. The filter drops all other
/// packets.
class EditListFilter {
 public:
  void filter(PacketPtr packet, const AVStream& stream,
              const std::function<void(PacketPtr)>& output);

 private:
  struct Stream {
    bool has_kept = false;
    std::deque<PacketPtr> preroll;  // marked packets before the first kept packet
  };
  std::map<int, Stream> streams_;  // by stream index
};

}  // namespace lull::io
