#pragma once
// Previews of DNG files for file managers.

#include <cstdint>
#include <vector>

#include "core/frame.h"
#include "io/raw/raw_picture.h"

namespace lull::io {

struct DngLevels;  // io/raw/dng_tags.h

struct DngPreview {
  FrameFormat format;                 // R, G, B of 8 bits
  std::vector<std::uint8_t> samples;  // interleaved
};

/// Downsamples the denoised picture `result` to a preview of at most 1024 pixels along a side.
/// Applies the white balance, and converts the colours to sRGB.
[[nodiscard]] DngPreview make_preview(const RawFacts& facts, const Frame& result,
                                      const DngLevels& levels);

}  // namespace lull::io
