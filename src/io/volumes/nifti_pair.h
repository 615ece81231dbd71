#pragma once
// Headers of volumes in two files, a header (.hdr) and samples (.img), in the formats NIfTI-1 and
// ANALYZE 7.5.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/volumes/foreign_volume.h"
#include "io/volumes/nifti_header.h"

namespace lull::io {

/// Returns whether a file is the header or the samples of a complete pair.
[[nodiscard]] bool is_nifti_pair(const std::string& path);

/// Reads the header of a pair.
/// @throws BadData  the header is invalid
/// @throws NoInput  the file of the samples does not exist
[[nodiscard]] ForeignVolume read_nifti_pair(const std::string& path);

/// Returns the content of the .hdr file of an output, whose sample type may differ from the
/// input's.
/// @param original  content of the .hdr file of the input
[[nodiscard]] std::vector<std::byte> pair_head_of(std::span<const std::byte> original,
                                                  bool is_analyze, const NiftiHeader& header,
                                                  const StoredFormat& samples, bool scaled);
/// Converts the header of a single NIfTI-1 file to the content of a .hdr file.
[[nodiscard]] std::vector<std::byte> pair_head_of_nifti(std::span<const std::byte> head,
                                                        const NiftiHeader& header);

}  // namespace lull::io
