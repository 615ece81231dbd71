#pragma once
// The head of a NIfTI file: nifti1.h of 2007 and nifti2.h of 2011 (nifti.nimh.nih.gov), both fixed
// structures in either byte order.
//
// lull reads them itself. niftilib takes the dimensions for granted, reads whole volumes into
// memory, reports on stderr, and makes the header anew when it writes; here every number is checked
// first, slices stream, errors are ours, and all bytes before the samples are kept as they are.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/stacks/stack_samples.h"

namespace lull::io {

/// Bytes that tell whether a file is NIfTI, and all that parse_nifti() needs.
inline constexpr std::size_t nifti_head_bytes = 540;

struct NiftiHeader {
  int version = 1;
  StoredFormat samples;
  std::array<std::int64_t, 3> size{1, 1, 1};  // along x, y, z; from 1
  std::int64_t volumes = 1;                   // product of all further dimensions
  std::uint64_t data_offset = 0;              // bytes from the beginning to the first sample
  bool scaled = false;                        // scl_slope says something
  std::array<double, 3> spacing{1, 1, 1};     // pixdim along x, y, z; 1, 1, 1 if it makes no sense

  /// Samples of a volume and of the whole; checked when parsed: neither overflows, in bytes too.
  std::uint64_t volume_samples() const;
  std::uint64_t total_samples() const;
};

/// Whether `head`, the first bytes of a file (up to nifti_head_bytes), begins like NIfTI of any
/// kind.
bool looks_like_nifti(std::span<const std::byte> head);

/// @throws BadData  no header, or one that makes no sense or that lull cannot filter: one line that
///                  begins with `name` in quotes
NiftiHeader parse_nifti(std::span<const std::byte> head, const std::string& name);

/// Changes type and scale of the samples in `head`, the bytes before the samples, and nothing else.
/// `scaled` false: scl_slope and scl_inter become 0, which means that there are none.
void change_samples(std::vector<std::byte>& head, const NiftiHeader& header,
                    const StoredFormat& samples, bool scaled);

}  // namespace lull::io
