#pragma once
// Sinks that make no file: one drops frames, one prints their digests.

#include <memory>

#include "io/media.h"
#include "io/source.h"

namespace lull::io {

/// The output `null`.
std::unique_ptr<MediaSink> open_null_sink(const FileSource& source);

/// The output `hash`, text for the open file `descriptor`; media.h describes it.
std::unique_ptr<MediaSink> open_hash_sink(const FileSource& source, int descriptor);

}  // namespace lull::io
