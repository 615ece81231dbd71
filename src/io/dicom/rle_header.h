#pragma once
// The header of a frame with RLE compression (DICOM PS3.5, G.5).

#include <cstddef>
#include <cstdint>
#include <span>

namespace lull::io {

/// Returns whether the header states `count` segments whose offsets increase and lie between the
/// header and the end of the frame.
[[nodiscard]] bool has_rle_segments(std::span<const std::uint8_t> frame, std::size_t count);

}  // namespace lull::io
