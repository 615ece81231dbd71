#pragma once
// The last step of a job in segments: writes all packets to one file.

#include <cstdint>
#include <functional>

#include "io/read/source.h"
#include "io/segments/segment_file.h"
#include "io/write/muxer.h"

namespace lull::io {

/// All segments of a job, in order.
struct DoneSegments {
  std::int64_t count = 0;
  std::function<SegmentReader(std::int64_t segment)> read;
};

/// Writes the segments' packets in order. Packets of the source's other streams are interleaved
/// with them; the input is read again for this. The order depends only on the packets, so that
/// equal jobs give equal bytes.
/// @param source  must have been read to its end, so that its selection is decided
/// @param tick    seconds per tick of the encoder's times
/// @throws IoError  a segment is damaged, or the muxer fails
void mux_segments(const DoneSegments& job, const FileSource& source, AVRational tick, Muxer& muxer);

}  // namespace lull::io
