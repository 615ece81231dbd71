#pragma once
// Noise curves of R, G and B for photographs developed from raw data without denoising.

#include <array>
#include <memory>

#include "noise/noise_model.h"
#include "noise/stills/demosaiced_noise.h"
#include "noise/stills/flat_blocks.h"
#include "noise/stills/picture_blocks.h"

namespace lull {

/// Noise curves of R, G and B. Null: the noise level of the channel is constant.
using ChannelCurves = std::array<std::shared_ptr<const NoiseCurve>, 3>;

/// Measures the noise level of R, G and B as a function of the value of the channel.
/// channel_curves.cpp explains the method. The result has three curves, or none if the noise level
/// hardly falls with brightness.
/// @param values  coefficients of the blocks of Y, U and V
/// @param noise  the noise of the picture, found by demosaiced_noise()
[[nodiscard]] ChannelCurves channel_curves(const OpponentValues& values,
                                           const PictureBlocks& blocks, const UsableBlocks& usable,
                                           const DemosaicedNoise& noise);

}  // namespace lull
