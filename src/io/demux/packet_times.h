#pragma once
// Decoding time or presentation time of a packet.

#include <cstdint>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns the DTS, or the PTS if there is no DTS.
inline std::int64_t time_of(const AVPacket& packet) {
  return packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
}

/// Returns the PTS, or the DTS if there is no PTS.
inline std::int64_t presentation_of(const AVPacket& packet) {
  return packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
}

inline bool has_time(const AVPacket& packet) { return time_of(packet) != AV_NOPTS_VALUE; }

inline void shift_times(AVPacket& packet, std::int64_t ticks) {
  if (packet.pts != AV_NOPTS_VALUE) packet.pts += ticks;
  if (packet.dts != AV_NOPTS_VALUE) packet.dts += ticks;
}

}  // namespace lull::io
