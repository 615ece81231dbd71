#pragma once
// Prepares frames before and after denoising for the statistics of the residual (residual.h).

#include <cstdint>
#include <optional>

#include "core/frame.h"
#include "core/plane.h"
#include "noise/noise_model.h"
#include "noise/volume/volume_noise.h"
#include "tools/noise/noise_record.h"
#include "tools/pages/residual.h"

namespace lull::tools {

/// The expected noise in the plane of the residual test: luma, or the mean of R, G and B.
class ExpectedNoise {
 public:
  /// @param volume_noise  nullopt, or the noise of a volume with Rician, spatially varying or
  ///     photon noise. levels() then computes the expected noise from this noise instead of from
  ///     `scene`.
  ExpectedNoise(const SceneNoise& scene, Layout layout,
                const std::optional<VolumeNoise>& volume_noise);

  const PlaneNoise& plane() const { return plane_; }
  /// Returns the standard deviation of the noise in the frame, on the 0..255 scale (root mean
  /// square of a noise curve).
  float level() const;
  /// Computes the expected standard deviation of the noise at each sample of a part of the frame.
  /// (x, y) is the top-left corner of the part, and `after` contains its denoised samples.
  void levels(PlaneView<const float> after, int slice, int x, int y, PlaneView<float> to) const;
  /// Minimum denoised value of the samples in the statistics. With Rician noise, the mean of darker
  /// samples differs from the signal. With photon noise, darker samples have hardly any noise.
  float min_signal() const { return min_signal_; }

 private:
  PlaneNoise plane_;
  float factor_ = 1;  // factor that scales the levels of the curve to this plane
  std::optional<VolumeNoise> volume_noise_;
  float min_signal_;
};

struct ResidualPlanes {
  Plane<float> before, after, level;
  Plane<std::uint8_t> counts;
  ResidualPart part() const { return {before.view(), after.view(), level.view(), counts.view()}; }
};

/// Prepares the part of a frame with the top-left corner (x, y) for the residual test. Excludes
/// samples that are clipped, not finite, or outside `mask` from the statistics. `mask` has the size
/// of the frame or is null.
[[nodiscard]] ResidualPlanes residual_planes(const Frame& before, const Frame& after,
                                             const ExpectedNoise& noise, const SliceMask* mask,
                                             int x, int y);

/// Returns the root mean square of the residual of a plane, on the 0..255 scale. The function reads
/// only every eighth row, and only samples within the mask of the input frame (`before`).
[[nodiscard]] double removed_rms(const Frame& before, const Frame& after, int plane);

}  // namespace lull::tools
