#pragma once
// The noise of arrays: models that the caller gives, and estimates.

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

/// An estimate of the noise, and whether it is certain.
struct Estimate {
  Noise noise;
  std::array<float, 3> level{};
  float coarse = 0;
  bool certain = true;
  std::string why;
};

[[nodiscard]] Noise white_noise(const std::array<float, 3>& sigma);

/// `noise` contains the level that the caller has given. Returns this noise together with the
/// clipping that the samples of the images show (find_clipping()). `excerpts` are the same as for
/// find_noise().
[[nodiscard]] Noise clipped_noise(const Noise& noise,
                                  const std::vector<std::vector<Image>>& excerpts,
                                  const FrameFormat& format);

/// Returns coloured noise from the autocovariance of each plane for lags -7..7 along both axes.
/// @throws InvalidArgument
[[nodiscard]] Noise coloured_noise(const std::vector<Samples>& covariances);

/// Returns Rician noise for volumes; `zero` is the sample on the 0..255 scale that represents a
/// magnitude of 0.
[[nodiscard]] Noise rician_noise(float sigma, float zero);

/// Converts the noise to another sample scale: levels are multiplied by `factor`, and a magnitude
/// of 0 is at `zero`. If the factor is not 1, the noise curve is dropped, because intensities
/// change.
[[nodiscard]] Noise rescaled(const Noise& noise, float factor, float zero);
/// Returns the noise multiplied by `strength`, on the same scale.
[[nodiscard]] Noise strengthened(const Noise& noise, float strength);

/// Estimates the noise from excerpts. An excerpt consists of consecutive images.
/// @param flat  if true, the noise curve is dropped; this is done for slices of stacks
[[nodiscard]] Estimate find_noise(const std::vector<std::vector<Image>>& excerpts,
                                  const FrameFormat& format, bool flat);

/// The depth scale of the filters, and the noise on that scale.
struct Depth {
  DepthScale scale;
  Noise noise;
};

/// Analyses consecutive depth maps. `sigma` is in the unit of the maps; empty: it is estimated.
/// @throws InvalidArgument  the maps contain only holes
[[nodiscard]] Depth analyse_depth(const std::vector<Image>& maps, const FrameFormat& format,
                                  const DepthSamples& samples, std::optional<double> sigma,
                                  std::optional<double> reference);

/// Collects the statistics of volumes slice by slice. The slices of a series come volume after
/// volume.
class VolumeStatistics {
 public:
  VolumeStatistics(const FrameFormat& format, std::int64_t slices)
      : pool_(format), collector_(format, slices) {}
  void add(const Image& slice, int place);
  /// Returns the estimate, or nothing if the volume is too small for one. `kind`: "gaussian",
  /// "rician" or "auto".
  [[nodiscard]] std::optional<Estimate> find(const std::string& kind, float zero) const;

 private:
  FramePool pool_;
  CubeCollector collector_;
};

}  // namespace lull::python
