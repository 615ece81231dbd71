#pragma once
// Variance stabilisation of renders, for filters of white Gaussian noise of one level. The session
// scales the demodulated illumination of a render (light.h) so that its noise has the same level
// everywhere, and reverses the scaling after the filter.

#include <memory>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "noise/render/light.h"

namespace lull {

/// Noise level of the stabilised illumination, on the 0..255 scale. After stabilisation, samples
/// larger than about 48 times their noise level are outside the range that filters accept
/// (float_range.h). The session preserves them unchanged.
inline constexpr float stabilised_light_sigma = 8;
/// Noise level for which the filter of with_render_vst() must be opened: 1.5 times the actual
/// level, because the noise of renders has long tails. (On the two scenes of
/// samples/render_scene.cpp, the PSNR is 0.8 and 1.7 dB higher than with the actual level.)
inline constexpr float light_filter_sigma = 1.5f * stabilised_light_sigma;

/// Returns the format of the stabilised frames that with_render_vst() passes to its filter for
/// frames of `format`: floats, with 255 for white.
[[nodiscard]] FrameFormat stabilised_light_format(const FrameFormat& format);

/// Makes a session for renders, whose frames have feature buffers. `filter` must be a session for
/// frames of stabilised_light_format(), opened for the noise level light_filter_sigma. The session
/// maps a sample u of the demodulated illumination (light.h) to stabilised_light_sigma u / s. s^2
/// is the mean of the noise variance over 11 x 11 pixels and all channels, so that the filter
/// preserves hues.
/// @param repeats detects repeated frames if Frame::repeat_state is unknown; may be null. The
///     detector compares the original frames, while the filter gets the stabilised frames.
/// @param threads  0: all cores
/// @throws InvalidArgument  frames that are not RGB or grey floats
[[nodiscard]] std::unique_ptr<Denoiser> with_render_vst(
    const RenderNoise& noise, const FrameFormat& format, std::unique_ptr<Denoiser> filter,
    std::unique_ptr<RepeatFinder> repeats = nullptr, int threads = 0);

}  // namespace lull
