#pragma once
// The session for mosaics of a sensor stabilises and demosaics the mosaics, denoises R, G and B,
// and inverts the stabilisation.

// The first filter denoises the stabilised picture after demosaicing along edges (directional.h).
// The result of the first filter predicts the mosaic. The difference between the samples and the
// prediction contains almost only noise.

// The last filter denoises the sum of the prediction and the linearly demosaiced difference. The
// sum contains the full noise and hardly any errors of demosaicing. The covariance of the noise of
// the sum is known (demosaic.h).

#include <functional>
#include <memory>

#include "core/denoiser.h"
#include "noise/noise_model.h"
#include "raw/sensor.h"
#include "raw/sensor_vst.h"

namespace lull::raw {

enum class Result {
  linear,  // R, G, B at each site
  mosaic,  // the colours of the sensor's sites
};

struct RawParams {
  Sensor sensor;
  std::shared_ptr<const SensorVst> vst;
  Result result = Result::linear;
};

/// Opens a session for frames of R, G and B planes that have the given noise. The samples are
/// floats, and white is 255.
using OpenFilter = std::function<std::unique_ptr<Denoiser>(const NoiseModel&, const FrameFormat&)>;

struct RawFilters {
  OpenFilter first;  // filters each frame separately
  OpenFilter last;
};

/// Returns the format of the results for mosaics of `format`. The results have 16 bits and are RGB
/// or grey.
[[nodiscard]] FrameFormat raw_result_format(const FrameFormat& format, Result result);

/// Opens a session for mosaics: grey frames of 16 bits in host memory. `Result` selects the kind of
/// the results. A mosaic has the black and white levels of result_levels() (mosaic_samples.h). In
/// an RGB picture, black is 0 and white is 65535.
/// @throws InvalidArgument  the frames have another format
[[nodiscard]] std::unique_ptr<Denoiser> open_raw(const RawParams& params, const FrameFormat& format,
                                                 const RawFilters& filters);

}  // namespace lull::raw
