#pragma once
// Applies edit lists (ISO/IEC 14496-12, 8.6.6) to copied streams. FFmpeg's demuxer returns the
// packets that an edit list removes, and only sets their discard flag.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Maximum preroll in microseconds. Opus needs the longest preroll of all audio codecs in use: 80
/// ms (RFC 7845, 4.6).
inline constexpr std::int64_t preroll_us = 80000;

/// Passes preroll packets, and all packets without the discard flag, to `output`. A decoder needs
/// the preroll packets to start. The preroll packets keep the discard flag, so that the muxer can
/// hide them from players.
class EditListFilter {
 public:
  void filter(PacketPtr packet, const AVStream& stream,
              const std::function<void(PacketPtr)>& output);

 private:
  struct Stream {
    bool has_kept = false;
    std::deque<PacketPtr> preroll;  // packets with the discard flag
  };
  std::map<int, Stream> streams_;  // by stream index
};

}  // namespace lull::io
