#pragma once
// Reads and writes the headers of MGH and MGZ files of FreeSurfer.
//
// Source: surfer.nmr.mgh.harvard.edu/fswiki/FsTutorial/MghFormat.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/volumes/foreign_volume.h"

namespace lull::io {

inline constexpr std::size_t mgh_head_bytes = 284;

[[nodiscard]] bool is_mgh(const std::string& path);

/// Reads the header of a file for which is_mgh() is true.
/// @throws BadData  the header is invalid, or lull cannot read the samples
[[nodiscard]] ForeignVolume read_mgh(const std::string& path);

/// Returns a header for samples of the type `type`.
/// @param original  the header of an MGH file, which the function copies except for the type; if
///     empty, the function makes a new header
[[nodiscard]] std::vector<std::byte> make_mgh_head(const VolumeGeometry& geometry, StoredType type,
                                                   std::span<const std::byte> original);

/// Returns the bytes that follow the samples in an MGH file. For a time series, these bytes contain
/// the repetition time.
[[nodiscard]] std::vector<std::byte> make_mgh_tail(const VolumeGeometry& geometry);
/// Reads the time between volumes, in seconds, from the bytes after the samples; 0 if unknown.
[[nodiscard]] double repetition_time(std::span<const std::byte> tail);
/// Returns one string for each kind of data after the samples of an MGH file, except the repetition
/// time.
[[nodiscard]] std::vector<std::string> other_contents_of_mgh(std::span<const std::byte> tail);

}  // namespace lull::io
