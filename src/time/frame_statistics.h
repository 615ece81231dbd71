#pragma once
// Counts samples and blocks in frames in host memory. From these counts, frame_relation.h decides
// how two frames are related.

#include <array>
#include <cstdint>

#include "core/frame.h"
#include "core/image.h"
#include "time/frame_relation.h"

namespace lull {

/// Returns the counts for two frames, which must have the same format. `sigma` contains the
/// standard deviation of the noise of each plane, on the 0..255 scale.
[[nodiscard]] FrameDifference difference_of(const Frame& frame, const Frame& before,
                                            const std::array<float, 3>& sigma);

/// Returns relation_of(difference_of(...)), but stops as soon as the relation is certain. With
/// independent noise, this is after half of the main plane.
[[nodiscard]] Relation relation_between(const Frame& frame, const Frame& before,
                                        const std::array<float, 3>& sigma);

/// Converts the main plane to 8 bits.
void to_bytes(const Frame& frame, PlaneView<std::uint8_t> to);
/// Converts `main` to the coarse plane that prediction uses.
void make_coarse(PlaneView<const std::uint8_t> main, PlaneView<std::uint8_t> to);

/// Returns the cost of predicting a frame from a frame before it, for coarse planes of equal size.
[[nodiscard]] PredictionCost prediction_of(PlaneView<const std::uint8_t> plane,
                                           PlaneView<const std::uint8_t> earlier,
                                           std::uint32_t noise);

}  // namespace lull
