#pragma once
// Volumes in formats other than single NIfTI files: MGH and MGZ of FreeSurfer, NRRD, and pairs
// (.hdr and .img) of NIfTI-1 or ANALYZE 7.5. lull converts their headers to NIfTI-1, so other
// modules process only NIfTI volumes.

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
  /// Byte offset in `data_path` of the samples, or of the gzip stream of compressed samples.
  std::uint64_t start = 0;
  std::uint64_t skip = 0;  // bytes between this position and the first sample, after decompression
  VolumeGeometry geometry = {};
  /// The stored header, which outputs of the same format copy: the text of NRRD, the header of MGH,
  /// or the .hdr file of a pair with its extensions.
  std::vector<std::byte> original = {};
  bool is_gzip = false;  // NRRD only: the samples are compressed
  /// Only for DICOM: the files, their description, and a function that opens the samples of all
  /// slices.
  std::vector<std::string> files = {};
  std::shared_ptr<const DicomVolume> dicom = {};
  std::function<std::unique_ptr<SampleBytes>()> open_samples = {};
  /// One string for each part of the header that only the input's format can store.
  std::vector<std::string> other_contents = {};
};

/// Returns whether a file is a volume in a format other than a single NIfTI file. For the .img file
/// of a pair, the function reads the .hdr file.
[[nodiscard]] bool is_foreign_volume(const std::string& path);

/// Reads the header of a volume. Returns nullopt if is_foreign_volume() is false for the file.
/// @throws BadData  the header is invalid, or lull cannot read the samples
/// @throws NoInput  the file of the samples does not exist
[[nodiscard]] std::optional<ForeignVolume> read_foreign_volume(const std::string& path);

}  // namespace lull::io
