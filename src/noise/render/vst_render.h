#pragma once
// Variance stabilisation of renders, for filters of white Gaussian noise of one level. The session
// scales the demodulated illumination of a render (light.h), so that its noise has the same level
// everywhere. After the filter, the session reverses the scaling.

// A sample u of the demodulated illumination becomes stabilised_light_sigma u / s, where s^2 is the
// mean of the noise variance over 11 x 11 pixels and all channels. All channels have the same
// factor, so that the filter preserves hues.

#include <memory>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "noise/render/light.h"

namespace lull {

/// Noise level of the stabilised illumination, on the 0..255 scale. A sample that is larger than
/// about 48 times its noise level is outside the range that filters accept (float_range.h) after
/// stabilisation. The session preserves such samples unchanged.
inline constexpr float stabilised_light_sigma = 8;
/// Noise level for which the filter of with_render_vst() must be opened. It is 1.5 times the actual
/// level, because the noise of renders has long tails. On the two scenes of
/// samples/render_scene.cpp, this factor increases the PSNR by 0.8 and 1.7 dB.
inline constexpr float light_filter_sigma = 1.5f * stabilised_light_sigma;

/// Returns the format of the stabilised frames for renders of `format`: floats, with 255 for white.
[[nodiscard]] FrameFormat stabilised_light_format(const FrameFormat& format);

/// Makes a session for renders with feature buffers. `filter` must be a session for frames of
/// stabilised_light_format() with the noise level light_filter_sigma.
/// @param repeats  detects repeated frames, by a comparison of the original frames, if
///     Frame::repeat_state is unknown; may be null
/// @param threads  0: all cores
/// @throws InvalidArgument  frames that are not RGB or grey floats
[[nodiscard]] std::unique_ptr<Denoiser> with_render_vst(
    const RenderNoise& noise, const FrameFormat& format, std::unique_ptr<Denoiser> filter,
    std::unique_ptr<RepeatFinder> repeats = nullptr, int threads = 0);

}  // namespace lull
