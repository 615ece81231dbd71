#pragma once
// The header of an RLE frame (DICOM PS3.5, G.5).

#include <cstddef>
#include <cstdint>
#include <span>

namespace lull::io {

/// Returns whether the header has `count` segments with increasing offsets between the header and
/// the end of the frame.
[[nodiscard]] bool has_rle_segments(std::span<const std::uint8_t> frame, std::size_t count);

}  // namespace lull::io
