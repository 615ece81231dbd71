#pragma once
// Applies edit lists to copied streams (ISO/IEC 14496-12, 8.6.6). An edit list removes packets.
// FFmpeg's demuxer also returns these packets, and marks them with a discard flag.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Duration of the packets that a decoder needs before the first kept packet, in microseconds. Opus
/// requires 80 ms (RFC 7845, 4.6). No other audio codec in use requires a longer time.
inline constexpr std::int64_t preroll_us = 80000;

/// Passes the packets of streams to `output`, and drops packets with the discard flag. The packets
/// with the flag immediately before the first kept packet are preroll, which a decoder needs in
/// order to start. The filter passes the preroll to `output`, still with the flag, for containers
/// that can hide preroll.
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
