#pragma once
// Frames before and after as what is measured of the residual.

#include <cstdint>
#include <optional>

#include "core/frame.h"
#include "core/plane.h"
#include "noise/noise_model.h"
#include "noise/volume/volume_noise.h"
#include "tools/noise/noise_record.h"
#include "tools/pages/residual.h"

namespace lull::tools {

/// The noise that is expected in what is measured: luma, of R G B their mean, Y of the opponent
/// space.
class ExpectedNoise {
 public:
  /// `volume_noise`: of a volume, what is known beside the level.
  ExpectedNoise(const SceneNoise& scene, Layout layout, const std::optional<VolumeNoise>& volume_noise);

  const PlaneNoise& plane() const { return plane_; }
  /// Standard deviation in samples as they are stored, on the 0..255 scale, in the middle.
  float level() const;
  /// The same in each sample of a part of a slice or frame that begins at (x, y), whose result is
  /// `after`.
  void levels(PlaneView<const float> after, int slice, int x, int y, PlaneView<float> to) const;
  /// Below this, a result is of Rician noise, whose mean is not that of the signal.
  float min_signal() const { return min_signal_; }

 private:
  PlaneNoise plane_;
  float factor_ = 1;  // of the curve
  std::optional<VolumeNoise> volume_noise_;
  float min_signal_;
};

struct ResidualPlanes {
  Plane<float> before, after, level;
  Plane<std::uint8_t> counts;
  ResidualPart part() const { return {before.view(), after.view(), level.view(), counts.view()}; }
};

/// Of a part of a frame that begins at (x, y). Samples do not count that are clipped, no numbers,
/// or outside of the mask of the whole frame (null: there is none).
[[nodiscard]] ResidualPlanes residual_planes(const Frame& before, const Frame& after,
                                             const ExpectedNoise& noise, const SliceMask* mask,
                                             int x, int y);

/// Root mean square of before - after in a plane, on the 0..255 scale; of every eighth row, and
/// within the mask of `before`.
[[nodiscard]] double removed_rms(const Frame& before, const Frame& after, int plane);

}  // namespace lull::tools
