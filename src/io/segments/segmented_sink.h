#pragma once
// A sink that encodes a file in segments. A later run can continue an interrupted job after the
// finished segments.

#include <memory>
#include <string>

#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Opens a sink that encodes in segments (options.segments). The parameters and errors are the same
/// as for open_sink().
std::unique_ptr<MediaSink> open_segmented_sink(const std::string& path, FileSource& source,
                                               const SinkOptions& options);

/// Dry run of open_segmented_sink(): throws the errors that open_segmented_sink() would throw,
/// except for errors that depend on SegmentOptions::facts. Changes no job.
void check_segmented_output(const std::string& path, FileSource& source,
                            const SinkOptions& options);

}  // namespace lull::io
