#pragma once
// The noise of arrays: models that are given, and what is found.

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

/// What filters are told. Levels are standard deviations on the 0..255 scale.
struct Noise {
  NoiseModel model;
  std::optional<VolumeNoise> volume_noise;  // of volumes whose noise is Rician or varies
};

/// What was found.
struct Found {
  Noise noise;
  std::array<float, 3> level{};
  float coarse = 0;
  bool certain = true;
  std::string why;
};

[[nodiscard]] Noise white_noise(const std::array<float, 3>& sigma);

/// Returns `noise`, whose level is given, for images of `format` that are clipped as their samples
/// show (find_clipping()). `looks` are those of find_noise().
[[nodiscard]] Noise clipped_noise(const Noise& noise, const std::vector<std::vector<Image>>& looks,
                                  const FrameFormat& format);

/// Of noise that is not white: for each plane the autocovariance of lags -7..7 along both axes.
/// @throws InvalidArgument
[[nodiscard]] Noise coloured_noise(const std::vector<Samples>& covariances);

/// Of volumes with Rician noise; `zero`: the sample on the 0..255 scale of a magnitude of 0.
[[nodiscard]] Noise rician_noise(float sigma, float zero);

/// For samples of another scale: `factor` times the levels, and a magnitude of 0 at `zero`. What
/// depends on intensity is left out where the factor is not 1, as intensities are others.
[[nodiscard]] Noise rescaled(const Noise& noise, float factor, float zero);
/// So many times the noise, on the same scale.
[[nodiscard]] Noise strengthened(const Noise& noise, float strength);

/// Of looks, which are images that follow one another. `flat`: what depends on intensity is left
/// out, as for slices of stacks.
[[nodiscard]] Found find_noise(const std::vector<std::vector<Image>>& looks,
                               const FrameFormat& format, bool flat);

/// Depth maps: how their values are filtered, and the noise on that scale.
struct Depth {
  DepthScale scale;
  Noise noise;
};

/// From maps that follow one another. `sigma`: in their unit; empty: it is found.
/// @throws InvalidArgument  they are nothing but holes
[[nodiscard]] Depth look_at_depth(const std::vector<Image>& maps, const FrameFormat& format,
                                  const DepthSamples& samples, std::optional<double> sigma,
                                  std::optional<double> reference);

/// Collects a volume slice by slice, of a series volume after volume.
class VolumeLook {
 public:
  VolumeLook(const FrameFormat& format, std::int64_t slices)
      : pool_(format), collector_(format, slices) {}
  void add(const Image& slice, int place);
  /// Nothing where the volume is too small to say anything. `kind`: gaussian, rician, or auto.
  [[nodiscard]] std::optional<Found> find(const std::string& kind, float zero) const;

 private:
  FramePool pool_;
  CubeCollector collector_;
};

}  // namespace lull::python
