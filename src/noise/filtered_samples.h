#pragma once
// Conversion between the samples of planes and the float samples that filters on the host use. The
// float samples are on the 0..255 scale, within the filter range (core/float_guard.h), and
// variance-stabilised for planes with a noise curve.

#include <array>

#include "core/frame.h"
#include "core/image.h"
#include "noise/noise_model.h"
#include "noise/stabiliser.h"

namespace lull {

class FilteredSamples {
 public:
  /// `stabilisers` contains the variance stabilisers of the planes with a noise curve.
  FilteredSamples(const NoiseModel& noise, const Stabilisers& stabilisers)
      : stabilisers_(stabilisers), levels_(noise.levels_in_samples()) {}

  /// Returns the noise levels of the stored samples, before stabilisation.
  const std::array<float, 3>& levels() const { return levels_; }

  /// Loads the filter input for plane `i` into `to`, and replaces or clamps out-of-range samples in
  /// `to`. Returns whether the function has changed any sample in this way.
  bool load(const Frame& frame, int i, PlaneView<float> to) const;
  /// Converts the filter's result for plane `i` to samples of `clean`, and overwrites `filtered`.
  /// `noisy` is the loaded frame, or null if load() returned false.
  void store(PlaneView<float> filtered, const Frame* noisy, int i, const Frame& clean) const;

 private:
  Stabilisers stabilisers_;
  std::array<float, 3> levels_;
};

/// Makes variance stabilisers for the planes with a noise curve. `skew_bias` contains the bias of
/// the filter's results for skewed noise in each plane (see the constructor of Stabiliser).
[[nodiscard]] Stabilisers make_stabilisers(const NoiseModel& noise,
                                           const std::array<double, 3>& skew_bias);
[[nodiscard]] inline Stabilisers make_stabilisers(const NoiseModel& noise, double skew_bias) {
  return make_stabilisers(noise, std::array{skew_bias, skew_bias, skew_bias});
}

}  // namespace lull
