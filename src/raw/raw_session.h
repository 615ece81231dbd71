#pragma once
// The session for mosaics of a sensor: stabilises and demosaics the mosaics, denoises R, G and B,
// and inverts the stabilisation.
//
// The first filter gets the stabilised picture, demosaiced along edges (directional.h). Its result
// predicts the mosaic, so the samples minus the prediction are almost only noise. The last filter
// gets the prediction plus the linearly demosaiced difference. This sum has the full noise, but
// hardly any errors of demosaicing, and the covariance of its noise is known (demosaic.h).

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

/// Opens a session for R, G, B frames of floats (white: 255) with this noise.
using OpenFilter = std::function<std::unique_ptr<Denoiser>(const NoiseModel&, const FrameFormat&)>;

struct RawFilters {
  OpenFilter first;  // filters each frame separately
  OpenFilter last;
};

/// Returns the format of the results for mosaics of `format`: R, G, B or grey, 16 bits.
[[nodiscard]] FrameFormat raw_result_format(const FrameFormat& format, Result result);

/// Opens a session for mosaics: grey frames of 16 bits in host memory. A result is a mosaic with
/// the black and white levels of result_levels() (mosaic_samples.h), or an RGB picture in which
/// black is 0 and white is 65535 (Result).
/// @throws InvalidArgument  other frames
[[nodiscard]] std::unique_ptr<Denoiser> open_raw(const RawParams& params, const FrameFormat& format,
                                                 const RawFilters& filters);

}  // namespace lull::raw
