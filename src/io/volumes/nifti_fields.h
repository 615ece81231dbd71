#pragma once
// Converts between NIfTI headers and the geometry of volumes in all formats.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/volumes/geometry.h"
#include "io/volumes/nifti_header.h"

namespace lull::io {

/// Returns the geometry that a header states: by method 3 (s-form), or else method 2 (q-form), or
/// else only the spacing. Values that are not finite count as absent.
/// @param head  a header that parse_nifti() has accepted
[[nodiscard]] VolumeGeometry geometry_of_nifti(std::span<const std::byte> head,
                                               const NiftiHeader& header);

/// Returns descriptions of the contents of a header and its extensions that other formats cannot
/// store.
/// @param head  all bytes before the samples
[[nodiscard]] std::vector<std::string> other_contents_of_nifti(std::span<const std::byte> head,
                                                               const NiftiHeader& header);

/// Returns a NIfTI-1 header and the 4 bytes that state the absence of extensions. The caller must
/// check the sizes, because NIfTI-1 does not support sizes above 32767.
[[nodiscard]] std::vector<std::byte> make_nifti_head(const VolumeGeometry& geometry,
                                                     const StoredFormat& samples);

}  // namespace lull::io
