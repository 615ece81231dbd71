#pragma once
// Writes DICOM series: the files of the input with filtered samples.

#include <memory>
#include <string>

#include "io/media.h"
#include "io/volumes/foreign_volume.h"
#include "io/volumes/volume_output.h"

namespace lull::io {

/// Returns whether `path` is a valid name of an output for a DICOM input: the name of a folder
/// (`x/`) or of a file (`x.dcm`).
[[nodiscard]] bool is_dicom_output(const std::string& path);

/// Opens an output that consists of the files of `volume` with new samples. The caller writes
/// samples of the input's type; the output stores them without compression. The function copies the
/// attributes of each file, but marks the file as DERIVED and SECONDARY, refers to the source
/// image, and sets new SOP and Series Instance UIDs. The new UIDs depend only on the input's UIDs
/// and on the samples.
/// @throws InvalidArgument  the input has several files, and `path` is the name of one file
/// @throws CannotCreate  the folder exists and is not empty, or the file exists and must not be
///     replaced
[[nodiscard]] std::unique_ptr<VolumeWriter> open_dicom_output(const std::string& path,
                                                              const ForeignVolume& volume,
                                                              const SinkOptions& options);

}  // namespace lull::io
