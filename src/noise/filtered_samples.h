#pragma once
// The planes of frames on their way into a filter on the host and out again: float samples on the
// 0..255 scale, what filters see of them (core/float_guard.h), stabilised where the noise follows a
// curve (stabiliser.h).

#include <array>

#include "core/frame.h"
#include "core/image.h"
#include "noise/noise_model.h"
#include "noise/stabiliser.h"

namespace lull {

class FilteredSamples {
 public:
  /// `stabilisers`: of the planes whose noise has a curve.
  FilteredSamples(const NoiseModel& noise, const Stabilisers& stabilisers)
      : stabilisers_(stabilisers), levels_(noise.levels_in_samples()) {}

  /// Of the noise in samples as they are stored.
  const std::array<float, 3>& levels() const { return levels_; }

  /// What filters see of plane `i`. Whether they do not see all samples as they are.
  bool load(const Frame& frame, int i, PlaneView<float> to) const;
  /// The way back: plane `i` of `clean`, from what a filter made of it, which is changed. `noisy`:
  /// the frame that it was loaded from, if its samples were not seen as they are; else null.
  void store(PlaneView<float> filtered, const Frame* noisy, int i, const Frame& clean) const;

 private:
  Stabilisers stabilisers_;
  std::array<float, 3> levels_;
};

/// Stabilisers of the planes that have a curve. `lean`, of each plane: see Stabiliser.
[[nodiscard]] Stabilisers make_stabilisers(const NoiseModel& noise,
                                           const std::array<double, 3>& lean);
[[nodiscard]] inline Stabilisers make_stabilisers(const NoiseModel& noise, double lean) {
  return make_stabilisers(noise, std::array{lean, lean, lean});
}

}  // namespace lull
