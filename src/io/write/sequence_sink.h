#pragma once
// A sink that writes one picture file for each frame.

#include <memory>
#include <string>

#include "io/encode/encoder_choice.h"
#include "io/media.h"
#include "io/tiff/tiff_picture.h"

namespace lull::io {

/// Returns whether the output is a sequence of files: `path` is a pattern for still pictures, and
/// the source is not a single still picture.
bool makes_sequence(const std::string& path, const FileSource& source, const SinkOptions& options);

/// Returns whether libtiff writes the output.
bool makes_tiff(const std::string& path, const FileSource& source, const SinkOptions& options);

/// Returns whether the output consists of TIFF files with the tags of the input's TIFF files.
bool copies_tiff_tags(const FileSource& source, const Container& container);

/// Returns whether the output is a single TIFF file with the pages of a single TIFF input.
bool keeps_tiff_pages(const std::string& path, const FileSource& source,
                      const SinkOptions& options);

/// Returns the differences between the TIFF pages of the source and the output pages with the pixel
/// format `format`.
TiffChanges predict_tiff_changes(const FileSource& source, const SinkOptions& options,
                                 AVPixelFormat format);

/// Returns whether the output is an OpenEXR file with all layers of the input file.
bool makes_layered_exr(const std::string& path, const FileSource& source,
                       const SinkOptions& options);

/// Opens a sink for picture files. `path` is a pattern, or the name of a single file, which may
/// contain several TIFF pages or OpenEXR layers.
/// @throws InvalidArgument, CannotCreate  like open_sink()
std::unique_ptr<MediaSink> open_sequence_sink(const std::string& path, FileSource& source,
                                              const SinkOptions& options);

}  // namespace lull::io
