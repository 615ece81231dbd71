#pragma once
// Writes DICOM series: copies of the input's files with filtered samples.

#include <memory>
#include <string>

#include "io/media.h"
#include "io/volumes/foreign_volume.h"
#include "io/volumes/volume_output.h"

namespace lull::io {

/// Returns whether `path` is a valid name of an output for a DICOM input: the name of a folder
/// (`x/`) or of a file (`x.dcm`).
[[nodiscard]] bool is_dicom_output(const std::string& path);

/// Opens an output for copies of the files of `volume`. The copies have new, uncompressed samples.
/// The output marks each file as DERIVED and SECONDARY, and sets new UIDs.
/// @throws InvalidArgument  the input has several files, and `path` is the name of one file
/// @throws CannotCreate  the folder is not empty, or the file exists and must not be replaced
[[nodiscard]] std::unique_ptr<VolumeWriter> open_dicom_output(const std::string& path,
                                                              const ForeignVolume& volume,
                                                              const SinkOptions& options);

}  // namespace lull::io
