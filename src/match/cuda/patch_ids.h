#pragma once
// Defines the patch numbers of clusters on a GPU: numbers the patches of several frames, and checks
// the size of planes. This file needs neither a device nor the CUDA toolkit.

#include <cstddef>
#include <string>

#include "core/error.h"
#include "cuda/layout/margins.h"
#include "time/frames.h"

namespace lull {

/// In a 32-bit patch number, the bits from this one on contain the index of the frame. The lower
/// bits contain the position in the plane (Margins::at). Numbers increase frame by frame and row by
/// row.
inline constexpr int patch_frame_bit = 27;
static_assert(max_frames <= 1 << (32 - patch_frame_bit));
inline constexpr std::size_t max_patch_positions = std::size_t{1} << patch_frame_bit;

/// Checks that the patches of a plane with this layout can be numbered.
/// @throws InvalidArgument  the plane has more positions than patch numbers allow
inline void require_numbered_places(const Margins& margins) {
  if (margins.size() <= max_patch_positions) return;
  throw InvalidArgument("planes of " + std::to_string(margins.width) + "x" +
                        std::to_string(margins.height) +
                        " samples with the matcher cluster (on a GPU it numbers 2^27); choose the "
                        "matcher window, or the CPU");
}

}  // namespace lull
