#include "core/error.h"
#include "nlm/features/engine.h"

namespace lull::nlm {

std::unique_ptr<FeatureEngine> make_cuda_feature_engine(const FeaturePlan&) {
  throw DeviceUnavailable(
      "this build has no CUDA backend for features; use the CPU, or build lull with CUDA");
}

}  // namespace lull::nlm
