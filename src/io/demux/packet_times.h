#pragma once
// Functions that return the decoding time or the presentation time of a packet.

#include <cstdint>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns the decoding time, or the presentation time if the packet has no decoding time.
inline std::int64_t time_of(const AVPacket& packet) {
  return packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
}

/// Returns the presentation time, or the decoding time if the packet has no presentation time.
inline std::int64_t presentation_of(const AVPacket& packet) {
  return packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
}

inline bool has_time(const AVPacket& packet) { return time_of(packet) != AV_NOPTS_VALUE; }

inline void shift_times(AVPacket& packet, std::int64_t ticks) {
  if (packet.pts != AV_NOPTS_VALUE) packet.pts += ticks;
  if (packet.dts != AV_NOPTS_VALUE) packet.dts += ticks;
}

}  // namespace lull::io
