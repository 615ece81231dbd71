#pragma once
// Reads DICOM images as volumes: a folder with the files of a series, or one file with one or
// several frames. DCMTK reads the files (dicom_dcmtk.cpp); builds without DCMTK reject them
// (dicom_none.cpp).
//
// Source: DICOM PS3.3, C.7.6.2 (Image Plane), C.7.6.3 (Image Pixel), C.7.6.16 (Multi-frame
// Functional Groups), C.11.1 (Modality LUT).

#include <string>

#include "io/volumes/foreign_volume.h"

namespace lull::io {

/// Returns whether `path` is a DICOM file (PS3.10), or a folder that contains a DICOM file.
[[nodiscard]] bool is_dicom(const std::string& path);

/// Reads the headers of a DICOM series, sorts the slices along their normal, and checks that they
/// form a volume. Several slices at the same position make a time series of volumes. Frames are
/// decoded when their samples are read.
/// @param series  the Series Instance UID or the number of the series; empty: the only series
/// @throws BadData  a file is damaged; slices are missing, occur twice, or differ in size or
///     orientation; lull cannot read the samples
/// @throws InvalidArgument  the folder contains several series and none is chosen, or the chosen
///     series does not exist
[[nodiscard]] ForeignVolume read_dicom(const std::string& path, const std::string& series);

}  // namespace lull::io
