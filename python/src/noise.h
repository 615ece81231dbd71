#pragma once
// The noise of arrays, which the caller gives or lull estimates.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "noise/depth/depth_scale.h"
#include "noise/estimate/estimate.h"
#include "noise/noise_model.h"
#include "noise/volume/cube_statistics.h"
#include "noise/volume/volume_noise.h"
#include "python/src/planes.h"

namespace lull::python {

/// The noise model for the filters. Levels are standard deviations on the 0..255 scale.
struct Noise {
  NoiseModel model;
  std::optional<VolumeNoise> volume_noise;  // for volumes with Rician or spatially varying noise
};

/// Estimated noise. `level` is the noise level per plane, and `coarse` is the noise level of means
/// of 8x8 samples (0..255 scale). `why` states the reason if the estimate is uncertain.
struct Estimate {
  Noise noise;
  std::array<float, 3> level{};
  float coarse = 0;
  bool certain = true;
  std::string why;
};

[[nodiscard]] Noise white_noise(const std::array<float, 3>& sigma);

/// Returns `noise` with the clipping limits that find_clipping() determines from images. Each
/// element of `excerpts` is a sequence of consecutive images.
[[nodiscard]] Noise clipped_noise(const Noise& noise,
                                  const std::vector<std::vector<Image>>& excerpts,
                                  const FrameFormat& format);

/// Returns coloured noise with the given autocovariance by plane, for lags -7..7 along both axes.
/// @throws InvalidArgument
[[nodiscard]] Noise coloured_noise(const std::vector<Samples>& covariances);

/// Returns Rician noise. `zero` is the sample value of magnitude 0, on the 0..255 scale.
[[nodiscard]] Noise rician_noise(float sigma, float zero);

/// Converts `noise` to a sample scale whose values are `factor` times as large. On this scale, the
/// sample value `zero` represents the magnitude 0 (Rician noise). Unless `factor` is 1, the result
/// has no noise curve.
[[nodiscard]] Noise rescaled(const Noise& noise, float factor, float zero);
/// Multiplies the noise level of each plane by `strength`. The sample scale does not change.
[[nodiscard]] Noise strengthened(const Noise& noise, float strength);

/// @param flat  if true, the result has no noise curve; must be true for slices of stacks
[[nodiscard]] Estimate find_noise(const std::vector<std::vector<Image>>& excerpts,
                                  const FrameFormat& format, bool flat);

/// The scale on which a session filters depth maps, and the noise on this scale.
struct Depth {
  DepthScale scale;
  Noise noise;
};

/// Analyses consecutive depth maps. `sigma` is the noise level in the unit of the maps. If `sigma`
/// is empty, the function estimates the noise level.
/// @throws InvalidArgument  the maps contain only holes
[[nodiscard]] Depth analyse_depth(const std::vector<Image>& maps, const FrameFormat& format,
                                  const DepthSamples& samples, std::optional<double> sigma,
                                  std::optional<double> reference);

/// Collects the noise statistics of the slices of a volume or series.
class VolumeStatistics {
 public:
  VolumeStatistics(const FrameFormat& format, std::int64_t slices)
      : pool_(format), collector_(format, slices) {}
  void add(const Image& slice, int place);
  /// Returns the estimated noise, or no value if the volume is too small. `kind` is "gaussian",
  /// "rician" or "auto".
  [[nodiscard]] std::optional<Estimate> find(const std::string& kind, float zero) const;

 private:
  FramePool pool_;
  CubeCollector collector_;
};

}  // namespace lull::python
