#pragma once
// Checks the compressed chunks of OpenEXR files. OpenEXR's C++ library accepts a chunk with too few
// bytes and then returns uninitialised memory.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

/// Returns a text about the first damaged chunk; empty if there is none. The function finds chunks
/// of a wrong size, and damaged data with RLE, ZIP, PXR24 or PIZ compression. It ignores deep parts
/// and parts with subsampled channels.
/// @param threads  number of threads that search; 0: one thread
std::string find_damaged_chunk(std::span<const std::uint8_t> file, int threads);

/// Returns an upper bound for the ratio of a compression method (Imf::Compression). Files in which
/// all samples are equal reach the bound.
double max_exr_compression(int compression);

}  // namespace lull::io
