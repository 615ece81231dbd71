#pragma once
// Writes DICOM series as outputs. An output consists of the files of the input with filtered
// samples.

#include <memory>
#include <string>

#include "io/media.h"
#include "io/volumes/foreign_volume.h"
#include "io/volumes/volume_output.h"

namespace lull::io {

/// Returns whether `path` is a valid name of an output for a DICOM input: the name of a folder
/// (`x/`) or of a file (`x.dcm`).
[[nodiscard]] bool is_dicom_output(const std::string& path);

/// Opens an output that consists of the files of `volume` with new samples. The function copies the
/// attributes of each file, but marks the file as DERIVED and SECONDARY, adds a reference to the
/// source image, and sets a new SOP Instance UID. All files get a new Series Instance UID. The new
/// UIDs depend only on the UIDs of the input and on the samples. The caller must write samples of
/// the type of the input. The output stores samples without compression.
/// @throws InvalidArgument  the input has several files, and `path` is the name of one file
/// @throws CannotCreate  the folder exists and is not empty, or the file exists and must not be
///     replaced
[[nodiscard]] std::unique_ptr<VolumeWriter> open_dicom_output(const std::string& path,
                                                              const ForeignVolume& volume,
                                                              const SinkOptions& options);

}  // namespace lull::io
