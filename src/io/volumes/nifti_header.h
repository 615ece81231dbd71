#pragma once
// The header of a NIfTI file (nifti1.h of 2007 and nifti2.h of 2011, nifti.nimh.nih.gov), a fixed
// structure in either byte order.

// lull does not use niftilib, because niftilib does not check the dimensions, reads complete
// volumes into memory, reports errors on stderr, and writes a new header.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/volumes/stack_samples.h"

namespace lull::io {

/// looks_like_nifti() and parse_nifti() need this number of bytes from the start of a file.
inline constexpr std::size_t nifti_head_bytes = 540;

struct NiftiHeader {
  int version = 1;
  StoredFormat samples;
  std::array<std::int64_t, 3> size{1, 1, 1};  // along x, y, z; at least 1
  std::int64_t volumes = 1;                   // product of all further dimensions
  std::uint64_t data_offset = 0;              // byte offset of the first sample
  bool scaled = false;                        // scl_slope is valid
  std::array<double, 3> spacing{1, 1, 1};     // pixdim along x, y, z; 1, 1, 1 if invalid

  /// Number of samples of one volume, and of all volumes. parse_nifti() ensures that these numbers
  /// and the sizes in bytes do not overflow.
  std::uint64_t volume_samples() const;
  std::uint64_t total_samples() const;
};

/// Returns whether a file begins like a NIfTI file of any kind. `head` contains the first
/// nifti_head_bytes bytes, or all bytes of a shorter file.
bool looks_like_nifti(std::span<const std::byte> head);

/// Parses the header in `head`.
/// @throws BadData  there is no header, the header is invalid, or lull cannot filter the samples;
///     the message is one line that begins with `name` in quotes
NiftiHeader parse_nifti(std::span<const std::byte> head, const std::string& name);

/// Changes only the type and the scale of the samples in the header `head` (all bytes before the
/// samples). If `scaled` is false, scl_slope and scl_inter become 0 (no scale).
void change_samples(std::vector<std::byte>& head, const NiftiHeader& header,
                    const StoredFormat& samples, bool scaled);

}  // namespace lull::io
