#pragma once
// Conversion between NIfTI headers and the geometry that all formats of volumes share.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/volumes/geometry.h"
#include "io/volumes/nifti_header.h"

namespace lull::io {

/// Returns the geometry that a header states. Method 3 (s-form) has priority over method 2
/// (q-form). Without both, the geometry has only a spacing. Values that are not finite count as
/// absent.
/// @param head  a header that parse_nifti() has accepted
[[nodiscard]] VolumeGeometry geometry_of_nifti(std::span<const std::byte> head,
                                               const NiftiHeader& header);

/// Returns what a header and its extensions contain other than geometry and samples, one text each.
/// Other formats have no fields for these contents.
/// @param head  all bytes before the samples
[[nodiscard]] std::vector<std::string> other_contents_of_nifti(std::span<const std::byte> head,
                                                               const NiftiHeader& header);

/// Returns a NIfTI-1 header with 4 bytes for the absence of extensions. Sizes above 32767 are
/// invalid in NIfTI-1, so the caller checks them first.
[[nodiscard]] std::vector<std::byte> make_nifti_head(const VolumeGeometry& geometry,
                                                     const StoredFormat& samples);

}  // namespace lull::io
