#pragma once
// Converts the planes of a frame to the float samples that a filter on the host processes, and
// back. The float samples are on the 0..255 scale, within the range that filters accept
// (core/float_guard.h). The samples of planes with a noise curve are variance-stabilised
// (stabiliser.h).

#include <array>

#include "core/frame.h"
#include "core/image.h"
#include "noise/noise_model.h"
#include "noise/stabiliser.h"

namespace lull {

class FilteredSamples {
 public:
  /// `stabilisers` contains the variance stabilisers of the planes that have a noise curve.
  FilteredSamples(const NoiseModel& noise, const Stabilisers& stabilisers)
      : stabilisers_(stabilisers), levels_(noise.levels_in_samples()) {}

  /// Returns the noise levels of the stored samples, before stabilisation.
  const std::array<float, 3>& levels() const { return levels_; }

  /// Writes the input of the filter for plane `i` to the plane `to`. Returns whether samples were
  /// replaced because they are outside the range that filters accept.
  bool load(const Frame& frame, int i, PlaneView<float> to) const;
  /// Converts the filter's result for plane `i` to samples of `clean`. The function overwrites
  /// `filtered`. `noisy` is the frame from which load() read the plane. If load() returned false,
  /// `noisy` must be null.
  void store(PlaneView<float> filtered, const Frame* noisy, int i, const Frame& clean) const;

 private:
  Stabilisers stabilisers_;
  std::array<float, 3> levels_;
};

/// Makes variance stabilisers for the planes that have a noise curve. `skew_bias` contains, for
/// each plane, the bias of the filter (see the constructor of Stabiliser).
[[nodiscard]] Stabilisers make_stabilisers(const NoiseModel& noise,
                                           const std::array<double, 3>& skew_bias);
[[nodiscard]] inline Stabilisers make_stabilisers(const NoiseModel& noise, double skew_bias) {
  return make_stabilisers(noise, std::array{skew_bias, skew_bias, skew_bias});
}

}  // namespace lull
