#pragma once
// The last step of a job: joins the segments of the job and the copied streams in one file.

#include <cstdint>
#include <functional>

#include "io/read/source.h"
#include "io/segments/segment_file.h"
#include "io/write/muxer.h"

namespace lull::io {

/// All finished segments of a job, and a function that opens a segment.
struct DoneSegments {
  std::int64_t count = 0;
  std::function<SegmentReader(std::int64_t segment)> read;
};

/// Writes the packets of all segments, interleaved with the copied streams, which the function
/// reads from the input again. Equal jobs give bit-identical files.
/// @param source  a source that has returned its last frame, so that its selection is complete
/// @param tick    seconds per tick of the encoder's times
/// @throws IoError  a segment is damaged, or the muxer fails
void mux_segments(const DoneSegments& job, const FileSource& source, AVRational tick, Muxer& muxer);

}  // namespace lull::io
