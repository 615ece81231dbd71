#pragma once
// Quantisation steps of the codec in a decoded frame.

#include <array>

#include "core/frame.h"

namespace lull::io {

/// Returns the mean quantisation step of each plane, for an orthonormal transform of samples on the
/// 0..255 scale. A step of at most 1, or an unknown step, counts as 0. Only YCbCr and grey pictures
/// that the CPU decoded from H.264, HEVC or AV1 have known steps.
[[nodiscard]] std::array<float, 3> quantiser_steps(const Frame& frame);

}  // namespace lull::io
