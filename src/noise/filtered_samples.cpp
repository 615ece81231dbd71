#include "noise/filtered_samples.h"

#include "core/float_guard.h"
#include "core/samples.h"

namespace lull {
namespace {

void apply_curve(const SampleCurve& curve, PlaneView<float> plane) {
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x) plane(x, y) = curve(plane(x, y));
}

}  // namespace

bool FilteredSamples::load(const Frame& frame, int i, PlaneView<float> to) const {
  load_plane(frame, i, to);
  const bool guarded =
      frame.format.sample == SampleType::f32 && guard_plane(frame, i, levels_[i], to);
  if (stabilisers_[i]) apply_curve(stabilisers_[i]->forward(), to);
  return guarded;
}

void FilteredSamples::store(PlaneView<float> filtered, const Frame* noisy, int i,
                            const Frame& clean) const {
  if (stabilisers_[i]) {
    apply_curve(stabilisers_[i]->inverse(), filtered);
    clip_preserving_mean(stabilisers_[i]->clip_limits(), filtered);
  }
  store_plane(filtered, clean, i);
  if (noisy) restore_plane(*noisy, i, levels_[i], clean);
}

Stabilisers make_stabilisers(const NoiseModel& noise, const std::array<double, 3>& skew_bias) {
  Stabilisers stabilisers;
  for (int i = 0; i < 3; ++i)
    if (const PlaneNoise& plane = noise.plane(i); plane.sigma > 0 && plane.curve)
      stabilisers[i] = std::make_shared<Stabiliser>(*plane.curve, skew_bias[i]);
  return stabilisers;
}

}  // namespace lull
