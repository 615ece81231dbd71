#pragma once
// The compressed chunks of OpenEXR files. OpenEXR's C++ library accepts a chunk that gives fewer
// bytes than its samples need, and returns memory of the process for the rest.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

/// The first damage that the chunks of a file show without being decoded: chunks beyond the end,
/// and chunks of all parts whose compressed data end too early or fail their checksum (RLE, ZIP,
/// PXR24). Empty if there is none. Deep parts, and parts with subsampled channels, are not looked
/// at. `threads` share the work; 0 counts as 1.
std::string find_damaged_chunk(std::span<const std::uint8_t> file, int threads);

/// The largest factor by which a compression (Imf::Compression) can shrink samples that are all
/// equal, or more.
double most_exr_shrinking(int compression);

}  // namespace lull::io
