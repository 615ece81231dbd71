#pragma once
// Reads DICOM images as volumes, from the files of a series or from one file. Builds without DCMTK
// reject DICOM files.
//
// Source: DICOM PS3.3, C.7.6.2 (Image Plane), C.7.6.3 (Image Pixel), C.7.6.16 (Multi-frame
// Functional Groups), C.8.8.3 (RT Dose), C.11.1 (Modality LUT).

#include <string>

#include "io/volumes/foreign_volume.h"

namespace lull::io {

/// Returns whether `path` is a DICOM file (PS3.10), or a folder that contains one.
[[nodiscard]] bool is_dicom(const std::string& path);

/// Reads the headers of a DICOM series and sorts the slices along their normal. Slices at equal
/// positions form a time series.
/// @param series  UID or number; empty: the only series
/// @throws BadData  a file is damaged or not supported, or the slices form no volume
/// @throws InvalidArgument  the series does not exist, or `series` is empty and there are several
///     series
[[nodiscard]] ForeignVolume read_dicom(const std::string& path, const std::string& series);

}  // namespace lull::io
