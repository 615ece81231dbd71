#pragma once
// A sink that encodes a file in segments. Finished segments survive the end of the process.

#include <memory>
#include <string>

#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Like open_sink(), with options.segments.
std::unique_ptr<MediaSink> open_segmented_sink(const std::string& path, FileSource& source,
                                               const SinkOptions& options);

}  // namespace lull::io
