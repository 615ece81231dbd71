#pragma once
// Checks the compressed chunks of OpenEXR files. OpenEXR's C++ library accepts a chunk with too few
// bytes and then returns uninitialised memory.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

/// Returns a text about the first damaged chunk; empty if there is none. The function finds chunks
/// beyond the end of the file, and chunks of a wrong size. In RLE, ZIP and PXR24 chunks, it also
/// finds data that end too early or have a wrong checksum. It does not check deep parts and parts
/// with subsampled channels. It uses `threads` threads; 0 means one thread.
std::string find_damaged_chunk(std::span<const std::uint8_t> file, int threads);

/// Returns an upper bound for the ratio of a compression method (Imf::Compression). Files of equal
/// samples reach it.
double max_exr_compression(int compression);

}  // namespace lull::io
