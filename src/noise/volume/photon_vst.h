#pragma once
// Variance stabilisation of stacks with photon noise, so that filters for white Gaussian noise can
// process them.

#include <memory>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "noise/volume/photon_noise.h"

namespace lull {

/// Makes a session for grey frames with the photon noise `noise`, on the 0..255 scale. `filter`
/// must accept stabilised_format(format). Its noise level is PhotonStabiliser::sigma(), or a
/// multiple for other strengths. Samples that the filter does not change remain unchanged.
/// @throws InvalidArgument  several planes, or validate() rejects `noise`
[[nodiscard]] std::unique_ptr<Denoiser> with_photon_vst(const PhotonNoise& noise,
                                                        const FrameFormat& format,
                                                        std::unique_ptr<Denoiser> filter,
                                                        const ResultSamples& results = {});

/// Makes a detector of repeated frames for clips with photon noise. The detector stabilises each
/// frame, and passes the result to `finder` in the format stabilised_format(format).
[[nodiscard]] std::unique_ptr<RepeatFinder> with_photon_vst(const PhotonNoise& noise,
                                                            const FrameFormat& format,
                                                            std::unique_ptr<RepeatFinder> finder);

}  // namespace lull
