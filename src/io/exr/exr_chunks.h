#pragma once
// Checks the compressed chunks of OpenEXR files. For a chunk with too few bytes, OpenEXR's C++
// library returns uninitialised memory.

#include <cstdint>
#include <span>
#include <string>

namespace lull::io {

/// Returns a description of the first damaged chunk; empty if there is none. The function finds
/// wrong sizes, and damage in RLE, ZIP, PXR24 and PIZ data. It does not check deep and subsampled
/// parts.
/// @param threads  number of threads; 0: one thread
std::string find_damaged_chunk(std::span<const std::uint8_t> file, int threads);

/// Returns an upper bound of the compression ratio of a method (Imf::Compression). A file reaches
/// this ratio if all of its samples are equal.
double max_exr_compression(int compression);

}  // namespace lull::io
