#pragma once
// DICOM series as outputs: the files of the input with filtered samples.

#include <memory>
#include <string>

#include "io/media.h"
#include "io/volumes/foreign_volume.h"
#include "io/volumes/volume_output.h"

namespace lull::io {

/// Returns whether a DICOM input can become an output of this name: a folder (`x/`) or a file
/// (`x.dcm`).
[[nodiscard]] bool is_dicom_output(const std::string& path);

/// Opens an output of the files of `volume`. Each file keeps its attributes, except that it is
/// marked as DERIVED and SECONDARY, refers to its source image, and has a new SOP Instance UID; the
/// series has a new Series Instance UID. The UIDs depend only on the UIDs and the samples. Samples
/// must have the type of the input. Samples are written without compression.
/// @throws InvalidArgument  several files and the name of one file
/// @throws CannotCreate  the folder exists and is not empty, or the file exists and must not be
///     replaced
[[nodiscard]] std::unique_ptr<VolumeWriter> open_dicom_output(const std::string& path,
                                                              const ForeignVolume& volume,
                                                              const SinkOptions& options);

}  // namespace lull::io
