#pragma once
// Converts NIfTI headers to the geometry that all formats of volumes share, and makes NIfTI headers
// from the geometry.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/volumes/geometry.h"
#include "io/volumes/nifti_header.h"

namespace lull::io {

/// Returns the geometry that a header states. Method 3 (s-form) has priority over method 2
/// (q-form). If the header contains neither method, the geometry has only a spacing. Values that
/// are not finite count as absent.
/// @param head  a header that parse_nifti() has accepted
[[nodiscard]] VolumeGeometry geometry_of_nifti(std::span<const std::byte> head,
                                               const NiftiHeader& header);

/// Returns descriptions of what a header and its extensions contain, except geometry and samples.
/// Other formats have no fields for these contents.
/// @param head  all bytes before the samples
[[nodiscard]] std::vector<std::string> other_contents_of_nifti(std::span<const std::byte> head,
                                                               const NiftiHeader& header);

/// Returns a NIfTI-1 header without extensions, followed by the 4 bytes that state the absence of
/// extensions. NIfTI-1 does not support sizes above 32767, so the caller must check the sizes
/// first.
[[nodiscard]] std::vector<std::byte> make_nifti_head(const VolumeGeometry& geometry,
                                                     const StoredFormat& samples);

}  // namespace lull::io
