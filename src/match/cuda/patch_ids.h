#pragma once
// Patch identifiers for clustered matching on a GPU. This file needs neither a device nor the CUDA
// toolkit.

#include <cstddef>
#include <string>

#include "core/error.h"
#include "cuda/layout/margins.h"
#include "time/frames.h"

namespace lull {

/// Lowest bit of the frame index in a 32-bit patch identifier. The bits below contain the position
/// in the plane (Margins::at).
inline constexpr int patch_frame_bit = 27;
static_assert(max_frames <= 1 << (32 - patch_frame_bit));
inline constexpr std::size_t max_patch_positions = std::size_t{1} << patch_frame_bit;

/// Checks that patch identifiers can represent all positions in a plane.
/// @throws InvalidArgument  the plane has more positions than patch identifiers can represent
inline void require_numbered_places(const Margins& margins) {
  if (margins.size() <= max_patch_positions) return;
  throw InvalidArgument("planes of " + std::to_string(margins.width) + "x" +
                        std::to_string(margins.height) +
                        " samples with the matcher cluster (on a GPU it numbers 2^27); choose the "
                        "matcher window, or the CPU");
}

}  // namespace lull
