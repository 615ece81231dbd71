#pragma once
// The interface between sessions and backends of non-local means with features (formulas.h).
// Backends process demodulated illumination (the picture divided by its albedo). Results do not
// depend on the number of threads.

#include <array>
#include <memory>
#include <span>

#include "core/plane.h"
#include "nlm/engine.h"
#include "nlm/features/formulas.h"

namespace lull::nlm {

/// The planes of class Light (noise/render/light.h): demodulated illumination (the picture divided
/// by its albedo), regressors, and the noise variances of illumination and regressors.
struct LightViews {
  std::array<PlaneView<const float>, 3> light, variance;
  int regressors = 0;  // 0..max_regressors; equal for all frames of one call of estimate()
  std::array<PlaneView<const float>, max_regressors> regressor, regressor_noise;
};

struct FeaturePlan {
  int width = 0, height = 0;
  int planes = 3;  // number of channels of light, 1 or 3
  int search_radius = 6;
  int slots = 1;  // number of frames that can be loaded
  int cell = motion_cell;

  int cell_columns() const { return (width + cell - 1) / cell; }
  /// Returns the halo of the filter in samples. The halo includes one sample, because a motion
  /// vector can move a motion block one sample beyond the planes.
  int reach() const { return search_radius + widest_patch + 1; }
};

class FeatureEngine {
 public:
  virtual ~FeatureEngine() = default;
  /// Loads the planes of a frame. The caller may change the planes after the call.
  virtual void load(int slot, const LightViews& views) = 0;
  /// Computes the filtered illumination of the target frame `frames.front()` from all frames.
  virtual void estimate(std::span<const CandidateFrame> frames,
                        const std::array<PlaneView<float>, 3>& results) = 0;
};

[[nodiscard]] std::unique_ptr<FeatureEngine> make_reference_feature_engine(const FeaturePlan& plan);
/// Makes the engine of the cpu backend. If `threads` is 0, the engine uses all cores.
[[nodiscard]] std::unique_ptr<FeatureEngine> make_cpu_feature_engine(const FeaturePlan& plan,
                                                                     int threads);
/// Makes the engine of the cuda backend, on the current device.
/// @throws InvalidArgument  kernels cannot address planes of this size
/// @throws DeviceUnavailable, OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<FeatureEngine> make_cuda_feature_engine(const FeaturePlan& plan);

/// Result F of a candidate filter, and its derivative with respect to the demodulated illumination
/// u_p of each pixel p.
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
