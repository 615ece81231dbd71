#pragma once
// Variance stabilisation of volumes whose noise is Rician or varies in space, for filters of white
// Gaussian noise of one level.

#include <memory>

#include "core/denoiser.h"
#include "noise/volume/volume_noise.h"

namespace lull {

/// Returns the format of the stabilised frames that with_vst() passes to its filter for slices of
/// `format`: floats, with 255 for white.
[[nodiscard]] FrameFormat stabilised_format(const FrameFormat& format);

/// Checks the noise and the format of slices.
/// @throws InvalidArgument  frames with several planes, or a noise that validate() rejects
void validate_vst(const VolumeNoise& noise, const FrameFormat& format);

/// Makes a session for slices with this noise. `filter` must be a session for frames of
/// stabilised_format(format), which assumes white Gaussian noise of the level noise.sigma (times a
/// factor to remove more or less noise). The session maps sample v at noise level s to
///     Rician noise:   zero + sigma f((v - zero) / s), with the function f of rician.h;
///     Gaussian noise: v sigma / s.
/// No stabilised sample leaves the range of samples, because sigma is the minimum of s. The session
/// preserves, bit for bit, samples that the filter leaves unchanged. Frame::slice states the
/// position of a slice in the noise map; if it is unknown, the session counts slices.
/// @throws InvalidArgument  as validate_vst()
[[nodiscard]] std::unique_ptr<Denoiser> with_vst(const VolumeNoise& noise,
                                                 const FrameFormat& format,
                                                 std::unique_ptr<Denoiser> filter,
                                                 const ResultSamples& results = {});

}  // namespace lull
