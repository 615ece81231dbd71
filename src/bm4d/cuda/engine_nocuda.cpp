#include "bm4d/cuda/engine.h"
#include "core/error.h"

namespace lull::bm4d {

std::unique_ptr<VolumeEngine> make_cuda_engine(const VolumePlan&, int) {
  throw DeviceUnavailable("this build has no CUDA backend; use the CPU, or build lull with CUDA");
}

}  // namespace lull::bm4d
