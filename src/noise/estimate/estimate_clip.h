#pragma once
// Noise measured in clips: in what differs between frames that follow one another, once motion is
// followed. docs/how-it-works/noise-estimation.md says how, and how well.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/estimate/estimate.h"

namespace lull {

struct ClipMeasurement {
  /// False: no two frames of a look show one scene with noise of their own. They may be one
  /// picture, repeated, or too small: what a single picture says has to do.
  bool found = false;
  /// Frames were weaved: what is said is said of their fields.
  bool of_fields = false;
  /// Variances in the planes as they are filtered: Y, Cb, Cr; of RGB the opponent space's Y, U, V.
  /// All 0: there is nothing fresh in a plane.
  std::array<CoefficientTable, 3> tables{};
  /// Standard deviations, from the tables.
  std::array<float, 3> level{};
  /// That of luma in each look; 0 where a look says nothing.
  std::vector<float> look_level;
  /// Of luma's level over brightness, where it is known and differs; null elsewhere. Beyond the
  /// brightness that was seen it goes on as it ends.
  std::shared_ptr<const NoiseCurve> curve;
  /// Of each plane over the first one's brightness, in 16 ranges, where there is enough to tell.
  std::array<std::vector<LevelAtLuma>, 3> by_luma{};
};

/// Frames of a look alone, and looks of one frame, say nothing. All frames have one format, and are
/// in the host's memory.
[[nodiscard]] ClipMeasurement measure_clip(std::span<const Look> looks);

/// Whether noise with these variances counts as white: it is filtered better and faster so, and a
/// measured table is never quite flat.
[[nodiscard]] bool counts_as_white(const CoefficientTable& variances);

/// What was found, as filters take it; `layout` is that of the frames. Of measurements that found
/// something only.
[[nodiscard]] NoiseEstimate estimate_of(const ClipMeasurement& measured, Layout layout);

}  // namespace lull
