#pragma once
// Checks the compressed chunks of OpenEXR files. OpenEXR's C++ library accepts a chunk with too few
// bytes and then returns uninitialised memory.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

/// Searches for damaged chunks. The function finds chunks beyond the end of the file, and chunks
/// whose size differs from the space that they have in the file. For RLE, ZIP and PXR24, it also
/// finds compressed data that end too early or have a wrong checksum. For PIZ, it finds data that
/// OpenEXR's C library cannot decompress. PIZ, B44 and DWA have no checksum. The function does not
/// check deep parts and parts with subsampled channels. It uses `threads` threads; 0 means one
/// thread. Returns a text about the first damaged chunk; empty if there is none.
std::string find_damaged_chunk(std::span<const std::uint8_t> file, int threads);

/// Returns an upper bound for the ratio of a compression method (Imf::Compression). Files of equal
/// samples reach it.
double max_exr_compression(int compression);

}  // namespace lull::io
