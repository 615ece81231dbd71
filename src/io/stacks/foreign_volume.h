#pragma once
// Volumes in formats other than single NIfTI files: MGH and MGZ of FreeSurfer, NRRD, and pairs of
// NIfTI-1 or ANALYZE 7.5 (.hdr and .img). The header is translated to a NIfTI-1 header, so that the
// rest of lull processes NIfTI volumes only, and the output is a NIfTI file with the same geometry.
//
// Sources: surfer.nmr.mgh.harvard.edu/fswiki/FsTutorial/MghFormat, teem.sourceforge.net/nrrd/
// format.html, nifti1.h.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/stacks/stack_samples.h"

namespace lull::io {

struct ForeignVolume {
  std::string format;           // "mgh", "nrrd", "nifti1 pair" or "analyze"
  std::vector<std::byte> head;  // a NIfTI-1 header with 4 bytes for the absence of extensions
  std::string data_path;        // the file that contains the samples
  /// Position in the file `data_path` at which the samples, or the gzip stream with the samples,
  /// begin.
  std::uint64_t start = 0;
  std::uint64_t skip = 0;  // bytes between this position and the first sample, after decompression
};

/// Returns whether the file is a volume in one of the formats MGH, MGZ, NRRD, or a pair of NIfTI-1
/// or ANALYZE 7.5. The content decides, and for the .img file of a pair also the content of its
/// .hdr file.
[[nodiscard]] bool is_foreign_volume(const std::string& path);

/// Reads the header of a volume. Returns nothing if is_foreign_volume() is false.
/// @throws BadData  the header is invalid, or lull cannot read the samples
/// @throws NoInput  the file of the samples does not exist
[[nodiscard]] std::optional<ForeignVolume> read_foreign_volume(const std::string& path);

}  // namespace lull::io
