#pragma once
// The session for mosaics. The session stabilises the noise variance of a mosaic, demosaics and
// denoises the mosaic, and inverts the variance stabilisation.

// The first filter denoises the picture after variance stabilisation and directional demosaicing
// (directional.h). The result of the first filter is a prediction of the mosaic. The residual is
// the difference between the mosaic and the prediction, and is almost pure noise.

// The last filter denoises a sum: the prediction plus the residual after linear demosaicing. The
// noise of this residual has a known covariance (demosaic.h).

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

/// Opens a session for float frames of R, G and B planes with the given noise. White is 255.
using OpenFilter = std::function<std::unique_ptr<Denoiser>(const NoiseModel&, const FrameFormat&)>;

struct RawFilters {
  OpenFilter first;  // filters each frame separately
  OpenFilter last;
};

/// Returns the format of the results for mosaics of `format`: 16 bits, RGB or grey.
[[nodiscard]] FrameFormat raw_result_format(const FrameFormat& format, Result result);

/// Opens a session for mosaics: grey frames of 16 bits in host memory. A mosaic result has the
/// levels of result_levels() (mosaic_samples.h). In an RGB result, black is 0 and white is 65535.
/// @throws InvalidArgument  the frames have another format
[[nodiscard]] std::unique_ptr<Denoiser> open_raw(const RawParams& params, const FrameFormat& format,
                                                 const RawFilters& filters);

}  // namespace lull::raw
