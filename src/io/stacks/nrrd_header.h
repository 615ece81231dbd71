#pragma once
// The text header of NRRD files.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/stacks/stack_samples.h"

namespace lull::io {

struct NrrdHeader {
  StoredType type = StoredType::u8;
  bool big_endian = false, is_gzip = false;
  std::vector<std::int64_t> sizes;  // fastest axis first; 3 or 4 axes
  /// Direction of a step along each of the first three axes, and position of the first sample, in
  /// right, anterior, superior. Without directions in the file, axes have only a spacing.
  std::array<std::array<double, 3>, 3> directions{};
  std::array<double, 3> origin{}, spacings{1, 1, 1};
  bool has_directions = false;
  std::string data_file;         // empty: the samples follow the header
  std::uint64_t byte_skip = 0;   // after decompression
  std::uint64_t head_bytes = 0;  // length of the header, with the empty line
};

/// Parses a header.
/// @param text  the first bytes of the file
/// @throws BadData  one line that begins with `name` in quotes
[[nodiscard]] NrrdHeader parse_nrrd(const std::string& text, const std::string& name);

}  // namespace lull::io
