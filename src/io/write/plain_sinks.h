#pragma once
// Sinks that make no file: one drops frames, one prints their digests.

#include <memory>

#include "io/media.h"

namespace lull::io {

/// The output `null`.
std::unique_ptr<MediaSink> open_null_sink(const MediaSource& source, const SinkOptions& options);

/// The output `hash`, text for the open file options.descriptor; media.h describes it.
std::unique_ptr<MediaSink> open_hash_sink(const MediaSource& source, const SinkOptions& options);

}  // namespace lull::io
