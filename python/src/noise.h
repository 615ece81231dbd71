#pragma once
// Describes the noise of arrays. The caller specifies the noise, or lull estimates it.

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

/// Estimated noise. `level` is the standard deviation in each plane, and `coarse` is the standard
/// deviation of the means of 8x8 samples. Both values are on the 0..255 scale. If the estimate is
/// uncertain, `certain` is false and `why` contains the reason.
struct Estimate {
  Noise noise;
  std::array<float, 3> level{};
  float coarse = 0;
  bool certain = true;
  std::string why;
};

[[nodiscard]] Noise white_noise(const std::array<float, 3>& sigma);

/// Returns a copy of `noise` with the clip limits of the images. The function finds the limits with
/// find_clipping(). The level of `noise` must be set. Each element of `excerpts` consists of
/// consecutive images.
[[nodiscard]] Noise clipped_noise(const Noise& noise,
                                  const std::vector<std::vector<Image>>& excerpts,
                                  const FrameFormat& format);

/// Returns coloured noise with the given autocovariance of each plane, for lags -7..7 along both
/// axes.
/// @throws InvalidArgument
[[nodiscard]] Noise coloured_noise(const std::vector<Samples>& covariances);

/// Returns Rician noise for volumes. `zero` is the sample, on the 0..255 scale, that corresponds to
/// the magnitude 0.
[[nodiscard]] Noise rician_noise(float sigma, float zero);

/// Converts the noise to another sample scale: multiplies the noise levels by `factor`. `zero` is
/// the sample of the new scale that corresponds to the magnitude 0. The result has a noise curve
/// only if the factor is 1.
[[nodiscard]] Noise rescaled(const Noise& noise, float factor, float zero);
/// Returns a copy of the noise, with the level of each plane multiplied by `strength`. The sample
/// scale does not change.
[[nodiscard]] Noise strengthened(const Noise& noise, float strength);

/// Estimates the noise from excerpts of consecutive images.
/// @param flat  true: the result has no noise curve, as slices of stacks require
[[nodiscard]] Estimate find_noise(const std::vector<std::vector<Image>>& excerpts,
                                  const FrameFormat& format, bool flat);

/// The depth scale on which sessions filter depth maps, and the noise on that scale.
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

/// Collects the statistics of a volume slice by slice, or of a series volume by volume.
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
