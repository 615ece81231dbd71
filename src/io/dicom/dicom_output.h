#pragma once
// Writes DICOM series: copies of the input's files with filtered samples.

#include <memory>
#include <string>

#include "io/media.h"
#include "io/volumes/foreign_volume.h"
#include "io/volumes/volume_output.h"

namespace lull::io {

/// Returns whether `path` is a valid output name for a DICOM input: a folder (`x/`) or a file
/// (`x.dcm`).
[[nodiscard]] bool is_dicom_output(const std::string& path);

/// Opens an output for copies of the files of `volume`, with new UIDs and new, uncompressed
/// samples. The image type of the copies is DERIVED, SECONDARY.
/// @throws InvalidArgument  the input has several files, but `path` names a single file
/// @throws CannotCreate  the folder is not empty, or the options do not allow the replacement of
///     the file
[[nodiscard]] std::unique_ptr<VolumeWriter> open_dicom_output(const std::string& path,
                                                              const ForeignVolume& volume,
                                                              const SinkOptions& options);

}  // namespace lull::io
