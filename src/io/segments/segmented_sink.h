#pragma once
// A file made in segments: what is done of it survives whatever ends the process.

#include <memory>
#include <string>

#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// As open_sink, with options.segments.
std::unique_ptr<MediaSink> open_segmented_sink(const std::string& path, FileSource& source,
                                               const SinkOptions& options);

}  // namespace lull::io
