#pragma once
// The quantisation steps with which a codec stored a decoded frame.

#include <array>

#include "core/frame.h"

namespace lull::io {

/// Returns the mean quantisation step of each plane of a decoded frame, on the 0..255 scale, for
/// coefficients of an orthonormal transform. The function reads the steps from headers of slices
/// and frames, and ignores changes within a slice. It returns 0 for unknown steps and for steps of
/// at most 1. Steps are known only for YCbCr and grey samples that the CPU decoded from H.264, HEVC
/// or AV1.
[[nodiscard]] std::array<float, 3> quantiser_steps(const Frame& frame);

}  // namespace lull::io
