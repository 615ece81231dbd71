#pragma once
// Converts planes for a filter on the host and back: to float samples on the 0..255 scale, within
// the filters' range (core/float_guard.h), and stabilised if the noise follows a curve
// (stabiliser.h).

#include <array>

#include "core/frame.h"
#include "core/image.h"
#include "noise/noise_model.h"
#include "noise/stabiliser.h"

namespace lull {

class FilteredSamples {
 public:
  /// `stabilisers`: the stabilisers of the planes whose noise has a curve.
  FilteredSamples(const NoiseModel& noise, const Stabilisers& stabilisers)
      : stabilisers_(stabilisers), levels_(noise.levels_in_samples()) {}

  /// Returns the noise levels of the stored (not stabilised) samples.
  const std::array<float, 3>& levels() const { return levels_; }

  /// Writes the filter input for plane `i` to `to`. Returns true if some samples were replaced
  /// because they are out of the filters' range.
  bool load(const Frame& frame, int i, PlaneView<float> to) const;
  /// Converts the filter's result for plane `i` back to samples of `clean`; `filtered` is
  /// overwritten. `noisy`: null if load() returned false for this plane, else the frame from which
  /// the plane was loaded.
  void store(PlaneView<float> filtered, const Frame* noisy, int i, const Frame& clean) const;

 private:
  Stabilisers stabilisers_;
  std::array<float, 3> levels_;
};

/// Makes stabilisers for the planes that have a curve. `skew_bias`: one value per plane, see
/// Stabiliser.
[[nodiscard]] Stabilisers make_stabilisers(const NoiseModel& noise,
                                           const std::array<double, 3>& skew_bias);
[[nodiscard]] inline Stabilisers make_stabilisers(const NoiseModel& noise, double skew_bias) {
  return make_stabilisers(noise, std::array{skew_bias, skew_bias, skew_bias});
}

}  // namespace lull
