#pragma once
// Converts between NIfTI headers and the geometry of volumes in all formats.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/volumes/geometry.h"
#include "io/volumes/nifti_header.h"

namespace lull::io {

/// Returns the geometry in a header. The function prefers the s-form (method 3) to the q-form
/// (method 2). Without both, the result contains only the spacing. Ignores values that are not
/// finite.
/// @param head  a header that parse_nifti() has accepted
[[nodiscard]] VolumeGeometry geometry_of_nifti(std::span<const std::byte> head,
                                               const NiftiHeader& header);

/// Returns one string for each part of the header and its extensions that other formats cannot
/// store.
/// @param head  all bytes before the samples
[[nodiscard]] std::vector<std::string> other_contents_of_nifti(std::span<const std::byte> head,
                                                               const NiftiHeader& header);

/// Returns a NIfTI-1 header followed by 4 bytes for "no extensions". The caller must check the
/// sizes, which NIfTI-1 limits to 32767.
[[nodiscard]] std::vector<std::byte> make_nifti_head(const VolumeGeometry& geometry,
                                                     const StoredFormat& samples);

}  // namespace lull::io
