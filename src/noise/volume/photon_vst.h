#pragma once
// Variance stabilisation of stacks with photon noise, so that filters for white Gaussian noise can
// process them.

#include <memory>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "noise/volume/photon_noise.h"

namespace lull {

/// Makes a session for grey frames with the photon noise `noise`, on the 0..255 scale. `filter`
/// must accept stabilised_format(format). The noise level of `filter` is PhotonStabiliser::sigma(),
/// or a multiple of this level for a stronger or weaker filter. If the filter does not change a
/// sample, the session returns the original sample, bit for bit.
/// @throws InvalidArgument  frames with several planes, or a noise that validate() rejects
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
