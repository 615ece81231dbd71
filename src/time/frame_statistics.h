#pragma once
// The counts of frame_relation.h for frames in the host's memory.

#include <array>
#include <cstdint>

#include "core/frame.h"
#include "core/image.h"
#include "time/frame_relation.h"

namespace lull {

/// Of two frames of one format. `sigma`: of the noise of their planes, on the 0..255 scale.
[[nodiscard]] FrameDifference difference_of(const Frame& frame, const Frame& before,
                                            const std::array<float, 3>& sigma);

/// relation_of() that, found as soon as it is certain: for frames with noise of their own after
/// half of the main plane.
[[nodiscard]] Relation relation_between(const Frame& frame, const Frame& before,
                                        const std::array<float, 3>& sigma);

/// The main plane in 8 bits.
void to_bytes(const Frame& frame, PlaneView<std::uint8_t> to);
/// `main` in the size in which it is predicted.
void make_coarse(PlaneView<const std::uint8_t> main, PlaneView<std::uint8_t> to);

/// Of two coarse planes of one size.
[[nodiscard]] PredictionCost prediction_of(PlaneView<const std::uint8_t> plane,
                                           PlaneView<const std::uint8_t> earlier,
                                           std::uint32_t noise);

}  // namespace lull
