#pragma once
// Applies edit lists to copied streams (ISO/IEC 14496-12, 8.6.6). FFmpeg's demuxer also returns the
// packets that an edit list removes, and marks them with a discard flag.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Duration of the packets that a decoder needs before the first kept packet. Opus requires 80 ms
/// (RFC 7845, 4.6), which is the longest requirement of the audio codecs in use.
inline constexpr std::int64_t preroll_us = 80000;

/// Passes a stream's packets to `output` and drops the packets marked with the discard flag. The
/// marked packets immediately before the first kept packet are preroll, which a decoder needs in
/// order to start. The filter passes preroll to `output` with the discard flag, for containers that
/// can hide preroll.
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
