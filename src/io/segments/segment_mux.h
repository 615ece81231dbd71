#pragma once
// The end of a job in segments: all packets into one file.

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

/// Writes the segments' packets in order and, interleaved with them, those of the source's other
/// streams, for which the input is read again. What comes when depends on nothing but the packets,
/// so that equal jobs give equal bytes.
/// @param source  read to its end, so that its cut is decided
/// @param tick    the encoder's, seconds
/// @throws IoError  a segment is damaged, or as the muxer does
void mux_segments(const DoneSegments& job, const FileSource& source, AVRational tick, Muxer& muxer);

}  // namespace lull::io
