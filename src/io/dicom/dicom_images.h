#pragma once
// Descriptions of DICOM images, and of the volume that the images form. The descriptions do not
// contain samples.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/volumes/geometry.h"
#include "io/volumes/stack_samples.h"

namespace lull::io {

/// The plane of a frame in DICOM's patient coordinates (left, posterior, superior), in millimetres.
struct DicomPlane {
  std::optional<std::array<double, 3>> position;     // Image Position (Patient)
  std::optional<std::array<double, 6>> orientation;  // Image Orientation (Patient)
  std::optional<std::array<double, 2>> spacing;      // millimetres between rows, between columns
  double thickness = 0;  // distance between slices in millimetres; 0: unknown
};

/// Format of the samples of a file.
struct DicomSampleFormat {
  int rows = 0, columns = 0, frames = 1;
  int bits_allocated = 0, bits_stored = 0;
  bool is_signed = false;
  bool operator==(const DicomSampleFormat&) const = default;
  std::size_t frame_bytes() const {
    return static_cast<std::size_t>(rows) * columns * (bits_allocated / 8);
  }
};

struct DicomFrame {
  DicomPlane plane;
  double slope = 1, inter = 0;  // value = slope * stored + inter
  int time = 0;                 // Temporal Position Index or Identifier; 0: unknown
};

/// An image file.
struct DicomImage {
  std::string path, sop_uid, series_uid, series_number, series_text;
  /// The reason why lull cannot read the image, for example "has colours ..."; empty if lull can
  /// read the image. If there is a reason, `frames` is empty.
  std::string problem;
  DicomSampleFormat format;
  int instance = 0;            // Instance Number
  double repetition_time = 0;  // milliseconds; 0: unknown
  std::vector<DicomFrame> frames;
};

/// The file and the frame of a slice. A sample's value is `slope` * n + `inter`, where n is the
/// stored number.
struct DicomSlice {
  std::size_t image = 0;  // index of its file
  int frame = 0;          // index of the frame in the file
  double slope = 1, inter = 0;
};

struct DicomVolume {
  VolumeGeometry geometry;
  std::vector<DicomImage> images;
  std::vector<DicomSlice> slices;  // volume after volume
  StoredFormat samples;            // native byte order
  bool has_scales = false;  // slices have different scales, so the samples are values as floats
};

/// Sets the positions of the frames of a file in which only the first frame has a position: RT Dose
/// (PS3.3, C.8.8.3) and other files without functional groups.
/// @param offsets  Grid Frame Offset Vector. If it does not have one number for each frame, the
///     function removes all positions.
void place_frames(std::vector<DicomFrame>& frames, const std::vector<double>& offsets);

/// Returns the images of the series with the UID or number `series`; empty: the only series.
/// @throws InvalidArgument  `series` is empty and there are several series, or `series` does not
///     exist
[[nodiscard]] std::vector<DicomImage> choose_series(std::vector<DicomImage> images,
                                                    const std::string& path,
                                                    const std::string& series);

/// Sorts the frames of a DICOM series into a volume, or a time series of volumes.
/// @throws BadData  the frames do not form a volume
[[nodiscard]] DicomVolume arrange(std::vector<DicomImage> images, const std::string& path);

}  // namespace lull::io
