#pragma once
// Volumes whose noise is Rician, or varies in space, for filters of white Gaussian noise of one
// level: samples are made so before the filter, and brought back after it.

#include <memory>

#include "core/denoiser.h"
#include "noise/volume/volume_noise.h"

namespace lull {

/// What the filter behind made_even() sees for slices of `format`: floats, 255 standing for white.
[[nodiscard]] FrameFormat even_format(const FrameFormat& format);

/// @throws InvalidArgument  frames of several planes, or a noise that is none
void validate_even(const VolumeNoise& noise, const FrameFormat& format);

/// A session for slices with this noise. `filter` is one for even_format(format) and white Gaussian
/// noise of noise.sigma (more or less for more or less to be taken away). Where the noise has the
/// level s, a sample v of it becomes
///     zero + sigma f((v - zero) / s)     Rician, f of rician.h
///     v sigma / s                        Gaussian
/// so that nothing leaves the range of samples, as sigma is the least of s. Samples that the filter
/// leaves as they are come out bit by bit. A slice's place in the map is Frame::slice; where that
/// is unknown, slices are counted.
/// @throws InvalidArgument  as validate_even()
[[nodiscard]] std::unique_ptr<Denoiser> made_even(const VolumeNoise& noise,
                                                  const FrameFormat& format,
                                                  std::unique_ptr<Denoiser> filter);

}  // namespace lull
