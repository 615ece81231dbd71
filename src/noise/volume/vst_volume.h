#pragma once
// Variance stabilisation of volumes whose noise is Rician or varies in space. The stabilised noise
// is white and Gaussian, and has the same level everywhere.

// Let s be the noise level at the position of a sample v, and sigma the minimum of s over the
// volume. For Gaussian noise, v becomes v * sigma / s. For Rician noise, v becomes z + sigma * f((v
// - z) / s), with the function f of rician.h. z is VolumeNoise::zero, the sample that represents a
// magnitude of 0. Stabilised samples stay in the range of samples, because sigma is at most s.

#include <memory>

#include "core/denoiser.h"
#include "noise/volume/volume_noise.h"

namespace lull {

/// Returns the format of the stabilised frames for slices of `format`: floats, with 255 for white.
[[nodiscard]] FrameFormat stabilised_format(const FrameFormat& format);

/// Checks the noise and the format of slices.
/// @throws InvalidArgument  frames with several planes, or a noise that validate() rejects
void validate_vst(const VolumeNoise& noise, const FrameFormat& format);

/// Makes a session for slices with the noise `noise`. `filter` must accept
/// stabilised_format(format). The stabilised noise is white and Gaussian. The noise level of
/// `filter` is noise.sigma, or a multiple of this level for stronger or weaker filtering. The
/// session preserves samples that the filter does not change, bit for bit. Frame::slice is the
/// position in the noise map. If it is unknown, the session counts slices.
/// @throws InvalidArgument  as validate_vst()
[[nodiscard]] std::unique_ptr<Denoiser> with_vst(const VolumeNoise& noise,
                                                 const FrameFormat& format,
                                                 std::unique_ptr<Denoiser> filter,
                                                 const ResultSamples& results = {});

}  // namespace lull
