#pragma once
// Checks of the compressed chunks of OpenEXR files. OpenEXR's C++ library accepts a chunk with
// fewer bytes than its samples need, and then returns uninitialised memory.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

/// Returns the first damage that is visible without decoding: chunks beyond the end of the file,
/// chunks whose size is not their place in the file, and chunks whose compressed data end too early
/// or fail their checksum (RLE, ZIP, PXR24). Empty if there is none. PIZ, B44 and DWA have no
/// checksum. Deep parts, and parts with subsampled channels, are not checked. `threads`
/// threads share the work; 0 counts as 1.
std::string find_damaged_chunk(std::span<const std::uint8_t> file, int threads);

/// Returns an upper bound for the compression ratio of a compression (Imf::Compression), reached if
/// all samples are equal.
double max_exr_compression(int compression);

}  // namespace lull::io
