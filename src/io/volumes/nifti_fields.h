#pragma once
// Converts between NIfTI headers and the geometry of volumes in all formats.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/volumes/geometry.h"
#include "io/volumes/nifti_header.h"

namespace lull::io {

/// Returns the geometry that a header states. The function prefers method 3 (s-form) to method 2
/// (q-form). Without these methods, the geometry contains only the spacing. The function ignores
/// values that are not finite.
/// @param head  a header that parse_nifti() has accepted
[[nodiscard]] VolumeGeometry geometry_of_nifti(std::span<const std::byte> head,
                                               const NiftiHeader& header);

/// Returns one text for each content that other formats cannot store. The function examines the
/// header and the extensions of the header.
/// @param head  all bytes before the samples
[[nodiscard]] std::vector<std::string> other_contents_of_nifti(std::span<const std::byte> head,
                                                               const NiftiHeader& header);

/// Returns a NIfTI-1 header, and 4 bytes which state that the file has no extensions. The caller
/// must check the sizes, because NIfTI-1 does not support sizes above 32767.
[[nodiscard]] std::vector<std::byte> make_nifti_head(const VolumeGeometry& geometry,
                                                     const StoredFormat& samples);

}  // namespace lull::io
