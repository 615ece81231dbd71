#pragma once
// A session that denoises a series of magnitudes. Another session filters the real and imaginary
// parts, from which this session computes the magnitudes.

#include <functional>
#include <memory>

#include "core/denoiser.h"
#include "core/frame.h"

namespace lull::series {

/// Receives a noisy slice of magnitudes, and the filtered slices of its real and imaginary parts. A
/// filtered sample of 0 represents the value 0, but in the noisy slice, another sample value may
/// represent the magnitude 0.
using PartsObserver =
    std::function<void(const Frame& noisy, const Frame& real, const Frame& imaginary)>;

/// Makes a session for the slices of a series of magnitudes. `parts` must be a session of
/// open_series() for the real parts and then the imaginary parts. NaN and samples without noise,
/// for which `parts` returns 0, do not change.
/// @param slices  number of magnitude slices
/// @param zero  sample of the magnitude 0, on the 0..255 scale
/// @param observer  may be empty
[[nodiscard]] std::unique_ptr<Denoiser> open_magnitudes(std::unique_ptr<Denoiser> parts,
                                                        const FrameFormat& format,
                                                        std::int64_t slices, float zero,
                                                        PartsObserver observer);

}  // namespace lull::series
