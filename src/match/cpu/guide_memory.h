#pragma once
// Memory for the guides of the matchers on the CPU.

#include <array>
#include <cstdint>

#include "match/cpu/kernels.h"
#include "time/frames.h"

namespace lull::cpu {

/// The guides of the reference frame and its neighbours, valid from Matcher::begin() to the last
/// block. Matchers that never run at the same time may share this memory.
struct GuideMemory {
  // Memory for the search of complete windows (window_search.h).
  Buffer<std::uint16_t> pairs;
  Buffer<std::int32_t> quad_samples, quad_norms;
  std::array<Buffer<std::uint16_t>, max_frames> frame_pairs;
  Buffer<std::uint16_t> invalid_positions;
  std::array<Buffer<std::uint16_t>, max_frames> frame_invalid_positions;
  Buffer<std::int8_t> row_bytes;
  // Memory for propagation (propagating_matcher.cpp).
  Buffer<std::int8_t> bytes;
  std::array<Buffer<std::int8_t>, max_frames> strips;
};

}  // namespace lull::cpu
