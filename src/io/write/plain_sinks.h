#pragma once
// Sinks without a file: one discards all frames, and one prints digests of the frames.

#include <memory>

#include "io/media.h"

namespace lull::io {

std::unique_ptr<MediaSink> open_null_sink(const MediaSource& source, const SinkOptions& options);

/// Opens the sink for the output name `hash`. The sink writes digests of frames as text to the open
/// file options.descriptor (format: io/media.h).
std::unique_ptr<MediaSink> open_hash_sink(const MediaSource& source, const SinkOptions& options);

}  // namespace lull::io
