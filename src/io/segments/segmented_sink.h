#pragma once
// A sink that encodes a file in segments. If the process ends early, another run continues after
// the finished segments.

#include <memory>
#include <string>

#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Opens a sink that encodes in segments (options.segments). Parameters and errors are those of
/// open_sink().
std::unique_ptr<MediaSink> open_segmented_sink(const std::string& path, FileSource& source,
                                               const SinkOptions& options);

/// Throws an error if open_segmented_sink() would throw the error for any value of
/// SegmentOptions::facts. The function changes no job.
void check_segmented_output(const std::string& path, FileSource& source,
                            const SinkOptions& options);

}  // namespace lull::io
