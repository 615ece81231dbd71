#pragma once
// The seam between the session, which knows frames, and the backends, which know planes of light.
// formulas.h has the formulas. Results are deterministic on each backend, whatever the number of
// threads.

#include <array>
#include <memory>
#include <span>

#include "core/plane.h"
#include "nlm/engine.h"
#include "nlm/features/formulas.h"

namespace lull::nlm {

/// A frame's planes, as light.h has them.
struct LightViews {
  std::array<PlaneView<const float>, 3> light, variance;
  int regressors = 0;  // 0..most_regressors; of all frames that are asked for together the same
  std::array<PlaneView<const float>, most_regressors> regressor, regressor_noise;
};

struct FeaturePlan {
  int width = 0, height = 0;
  int planes = 3;  // channels of light, 1 or 3
  int search_radius = 6;
  int slots = 1;  // for frames
  int cell = motion_cell;

  int cell_columns() const { return (width + cell - 1) / cell; }
  /// How far beyond the planes anything is looked at; motion leads a sample beyond at most.
  int reach() const { return search_radius + widest_patch + 1; }
};

class FeatureEngine {
 public:
  virtual ~FeatureEngine() = default;
  /// The planes of a frame, which may change after the call.
  virtual void load(int slot, const LightViews& views) = 0;
  /// The filtered light of frames.front(), from all `frames`.
  virtual void estimate(std::span<const CandidateFrame> frames,
                        const std::array<PlaneView<float>, 3>& results) = 0;
};

[[nodiscard]] std::unique_ptr<FeatureEngine> make_reference_feature_engine(const FeaturePlan& plan);
/// `threads`: 0 takes every core.
[[nodiscard]] std::unique_ptr<FeatureEngine> make_cpu_feature_engine(const FeaturePlan& plan,
                                                                     int threads);
/// On the current device. @throws DeviceUnavailable, OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<FeatureEngine> make_cuda_feature_engine(const FeaturePlan& plan);

/// Step 4 and 5 on the host: what candidates gave, and dF/du_p of each.
struct CandidateResult {
  std::array<Plane<float>, 3> value, derivative;
  CandidateResult() = default;
  CandidateResult(const FeaturePlan& plan) {
    for (int c = 0; c < plan.planes; ++c) {
      value[c] = Plane<float>(plan.width, plan.height);
      derivative[c] = Plane<float>(plan.width, plan.height);
    }
  }
};
void blend(const FeaturePlan& plan, const std::array<PlaneView<const float>, 3>& light,
           const std::array<PlaneView<const float>, 3>& variance, const CandidateResult& colour,
           const CandidateResult& guided, const std::array<PlaneView<float>, 3>& results);

}  // namespace lull::nlm
