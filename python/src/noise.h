#pragma once
// Describes the noise of arrays, given by the caller or estimated.

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
/// deviation of the means of 8x8 samples, both on the 0..255 scale. If `certain` is false, `why` is
/// the reason.
struct Estimate {
  Noise noise;
  std::array<float, 3> level{};
  float coarse = 0;
  bool certain = true;
  std::string why;
};

[[nodiscard]] Noise white_noise(const std::array<float, 3>& sigma);

/// Returns a copy of `noise` with the clip limits that find_clipping() finds in the samples of the
/// images. The level of `noise` must be set. `excerpts` have the same form as for find_noise().
[[nodiscard]] Noise clipped_noise(const Noise& noise,
                                  const std::vector<std::vector<Image>>& excerpts,
                                  const FrameFormat& format);

/// Returns coloured noise from the autocovariance of each plane for lags -7..7 along both axes.
/// @throws InvalidArgument
[[nodiscard]] Noise coloured_noise(const std::vector<Samples>& covariances);

/// Returns Rician noise for volumes. `zero` is the sample, on the 0..255 scale, that corresponds to
/// the magnitude 0.
[[nodiscard]] Noise rician_noise(float sigma, float zero);

/// Converts the noise to another sample scale: multiplies the noise levels by `factor`. `zero` is
/// the sample of the new scale that corresponds to the magnitude 0. If the factor is not 1, the
/// result has no noise curve, because its intensities belong to the old scale.
[[nodiscard]] Noise rescaled(const Noise& noise, float factor, float zero);
/// Returns the noise with the level of each plane multiplied by `strength`, on the same sample
/// scale.
[[nodiscard]] Noise strengthened(const Noise& noise, float strength);

/// Estimates the noise from excerpts of consecutive images.
/// @param flat  true for slices of stacks: the result then has no noise curve, so that the noise
///     level does not depend on brightness
[[nodiscard]] Estimate find_noise(const std::vector<std::vector<Image>>& excerpts,
                                  const FrameFormat& format, bool flat);

/// The depth scale on which filters process depth maps, and the noise on that scale.
struct Depth {
  DepthScale scale;
  Noise noise;
};

/// Analyses consecutive depth maps. `sigma` is in the unit of the maps; empty: the function
/// estimates it.
/// @throws InvalidArgument  the maps contain only holes
[[nodiscard]] Depth analyse_depth(const std::vector<Image>& maps, const FrameFormat& format,
                                  const DepthSamples& samples, std::optional<double> sigma,
                                  std::optional<double> reference);

/// Collects the statistics of volumes slice by slice, and those of series volume by volume.
class VolumeStatistics {
 public:
  VolumeStatistics(const FrameFormat& format, std::int64_t slices)
      : pool_(format), collector_(format, slices) {}
  void add(const Image& slice, int place);
  /// Returns the estimated noise; nothing if the volume is too small. `kind` is "gaussian",
  /// "rician" or "auto".
  [[nodiscard]] std::optional<Estimate> find(const std::string& kind, float zero) const;

 private:
  FramePool pool_;
  CubeCollector collector_;
};

}  // namespace lull::python
