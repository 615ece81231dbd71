#pragma once
// Volumes in formats other than single NIfTI files: MGH and MGZ of FreeSurfer, NRRD, and pairs of
// NIfTI-1 or ANALYZE 7.5 (.hdr and .img). The header is translated to a NIfTI-1 header, so that the
// rest of lull processes NIfTI volumes only.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/volumes/geometry.h"
#include "io/volumes/gzip_stream.h"
#include "io/volumes/stack_samples.h"

namespace lull::io {

struct DicomVolume;  // io/dicom/dicom_images.h

struct ForeignVolume {
  std::string format;                // "mgh", "nrrd", "nifti1 pair", "analyze" or "dicom"
  std::vector<std::byte> head = {};  // a NIfTI-1 header, with extensions if the volume has them
  std::string data_path = {};        // the file that contains the samples
  /// Position in this file at which the samples, or the gzip stream with the samples, begin.
  std::uint64_t start = 0;
  std::uint64_t skip = 0;  // bytes between this position and the first sample, after decompression
  VolumeGeometry geometry = {};
  /// The header as the file contains it: the text of NRRD, the header of MGH, the .hdr file of a
  /// pair with its extensions. An output of the same format keeps it.
  std::vector<std::byte> original = {};
  bool is_gzip = false;  // NRRD only: the samples are compressed
  /// DICOM only: the files, their description, and a function that opens the samples of all slices.
  std::vector<std::string> files = {};
  std::shared_ptr<const DicomVolume> dicom = {};
  std::function<std::unique_ptr<SampleBytes>()> open_samples = {};
  /// What the header contains other than geometry and samples and no other format can hold, one
  /// text each.
  std::vector<std::string> other_contents = {};
};

/// Returns whether the file is a volume in one of these formats. The content decides, and for the
/// .img file of a pair also the content of its .hdr file.
[[nodiscard]] bool is_foreign_volume(const std::string& path);

/// Reads the header of a volume. Returns nothing if is_foreign_volume() is false.
/// @throws BadData  the header is invalid, or lull cannot read the samples
/// @throws NoInput  the file of the samples does not exist
[[nodiscard]] std::optional<ForeignVolume> read_foreign_volume(const std::string& path);

}  // namespace lull::io
