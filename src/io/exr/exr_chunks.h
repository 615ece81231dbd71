#pragma once
// Checks the compressed chunks of OpenEXR files. OpenEXR's C++ library accepts a chunk with fewer
// bytes than its samples need, and then returns uninitialised memory.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

/// Returns the first damage that can be detected without decoding: chunks beyond the end of the
/// file, chunks whose size differs from the space that they have in the file, and chunks whose
/// compressed data end too early or have a wrong checksum (RLE, ZIP, PXR24). The result is empty if
/// there is none. PIZ, B44 and DWA have no checksum. Deep parts, and parts with subsampled
/// channels, are not checked. `threads` threads share the work; 0 means one thread.
std::string find_damaged_chunk(std::span<const std::uint8_t> file, int threads);

/// Returns an upper bound for the compression ratio of a method (Imf::Compression). The bound is
/// reached if all samples are equal.
double max_exr_compression(int compression);

}  // namespace lull::io
