#pragma once
// Counts samples and blocks of frames in host memory. From the counts, frame_relation.h decides
// whether a frame repeats the previous frame, and whether two frames belong to the same scene.

#include <array>
#include <cstdint>

#include "core/frame.h"
#include "core/image.h"
#include "time/frame_relation.h"

namespace lull {

/// Compares two frames of the same format, and returns the block counts. `sigma` contains the noise
/// level of each plane, on the 0..255 scale.
[[nodiscard]] FrameDifference difference_of(const Frame& frame, const Frame& before,
                                            const std::array<float, 3>& sigma);

/// Returns the same relation as relation_of(difference_of(...)), but compares blocks only until the
/// relation is certain. If the two frames have independent noise, about half of the luma (or green)
/// plane usually suffices.
[[nodiscard]] Relation relation_between(const Frame& frame, const Frame& before,
                                        const std::array<float, 3>& sigma);

/// Converts the luma (or green) plane of a frame to 8 bits.
void to_bytes(const Frame& frame, PlaneView<std::uint8_t> to);
/// Downsamples an 8-bit plane to means of 4x4 samples.
void make_coarse(PlaneView<const std::uint8_t> main, PlaneView<std::uint8_t> to);

/// Returns the cost of predicting a frame from an earlier frame. The two downsampled planes must
/// have equal sizes.
[[nodiscard]] PredictionCost prediction_of(PlaneView<const std::uint8_t> plane,
                                           PlaneView<const std::uint8_t> earlier,
                                           std::uint32_t noise);

}  // namespace lull
