#pragma once
// Sinks that create no file. One sink discards all frames. Another sink writes digests of the
// frames to an open file.

#include <memory>

#include "io/media.h"

namespace lull::io {

/// Opens the sink for the output name `null`. The sink discards all frames.
std::unique_ptr<MediaSink> open_null_sink(const MediaSource& source, const SinkOptions& options);

/// Opens the sink for the output name `hash`. It writes digests of the frames as text to the open
/// file options.descriptor; io/media.h describes the format.
std::unique_ptr<MediaSink> open_hash_sink(const MediaSource& source, const SinkOptions& options);

}  // namespace lull::io
