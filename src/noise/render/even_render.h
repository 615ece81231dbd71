#pragma once
// Renders for filters of white Gaussian noise of one level: light whose noise is made even, and the
// way back.

#include <memory>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "noise/render/light.h"

namespace lull {

/// What noise is made to have, on the 0..255 scale. Light within some 48 times its noise is seen
/// (float_range.h); what is brighter beside so little noise stays as it is.
inline constexpr float even_level = 8;
/// The sigma that a filter behind even_render() is for: half as much again, as the noise of renders
/// has long tails. (On the two scenes of samples/render_scene.cpp 0.8 and 1.7 dB better than the
/// level itself.)
inline constexpr float even_sigma = 1.5f * even_level;

/// What the filter behind even_render() sees for frames of `format`: floats, 255 standing for
/// white.
[[nodiscard]] FrameFormat even_light_format(const FrameFormat& format);

/// A session for renders, whose frames bring features. `filter` is one for even_light_format() and
/// noise of even_sigma. A sample u of light (light.h) becomes even_level u / s, s^2 the mean of its
/// variance over 11 x 11 pixels and all channels, so that what varies with s is smooth and hues
/// stay.
/// @param repeats  finds in the frames themselves what the filter does not have to find in what it
///                 sees of them, where that is unknown; may be null
/// @param threads  0: every core
/// @throws InvalidArgument  frames that are no light
[[nodiscard]] std::unique_ptr<Denoiser> even_render(const RenderNoise& noise,
                                                    const FrameFormat& format,
                                                    std::unique_ptr<Denoiser> filter,
                                                    std::unique_ptr<RepeatFinder> repeats = nullptr,
                                                    int threads = 0);

}  // namespace lull
