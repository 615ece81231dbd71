#pragma once
// Variance stabilisation of renders: scales the demodulated illumination (light.h) to a constant
// noise level, so that filters for white Gaussian noise can process it.

// A sample u of the demodulated illumination becomes stabilised_light_sigma * u / s. s^2 is the
// noise variance around the sample: the mean over 11 x 11 pixels and all channels.

#include <memory>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "noise/render/light.h"

namespace lull {

/// Noise level of the stabilised illumination, on the 0..255 scale. Samples above about 48 times
/// their noise level exceed the filter range and remain unchanged.
inline constexpr float stabilised_light_sigma = 8;
/// Noise level of the filter for with_render_vst(): 1.5 times the actual level, because the noise
/// of renders has long tails. The factor improves the PSNR of the scenes of
/// samples/render_scene.cpp by 0.8 and 1.7 dB.
inline constexpr float light_filter_sigma = 1.5f * stabilised_light_sigma;

/// Returns the format of the stabilised frames for renders of `format`: floats, with 255 for white.
[[nodiscard]] FrameFormat stabilised_light_format(const FrameFormat& format);

/// Makes a session for renders with feature buffers. `filter` must be a session for frames of
/// stabilised_light_format() with the noise level light_filter_sigma.
/// @param repeats  detects repeated frames in the original frames if Frame::repeat_state is
///     unknown; may be null
/// @param threads  0: all cores
/// @throws InvalidArgument  frames that are not RGB or grey floats
[[nodiscard]] std::unique_ptr<Denoiser> with_render_vst(
    const RenderNoise& noise, const FrameFormat& format, std::unique_ptr<Denoiser> filter,
    std::unique_ptr<RepeatFinder> repeats = nullptr, int threads = 0);

}  // namespace lull
