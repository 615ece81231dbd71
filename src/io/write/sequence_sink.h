#pragma once
// A file for each frame.

#include <memory>
#include <string>

#include "io/encode/encoder_choice.h"
#include "io/media.h"

namespace lull::io {

/// Whether frames of `source` into `path` make a sequence: a pattern for still pictures, and a
/// source that is more than one still.
bool makes_sequence(const std::string& path, const FileSource& source, const SinkOptions& options);

/// Whether `path` becomes a TIFF file of floats, for which FFmpeg has no encoder.
bool makes_float_tiff(const std::string& path, const FileSource& source,
                      const SinkOptions& options);

/// Whether `path` becomes the OpenEXR file that a picture came from, with all that was in it.
bool makes_layered_exr(const std::string& path, const FileSource& source,
                       const SinkOptions& options);

/// `path` is a pattern or, for what FFmpeg does not write (the two above), one name.
/// @throws InvalidArgument, CannotCreate  as open_sink
std::unique_ptr<MediaSink> open_sequence_sink(const std::string& path, FileSource& source,
                                              const SinkOptions& options);

}  // namespace lull::io
