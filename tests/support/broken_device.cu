#include "cuda/handles.h"
#include "support/broken_device.h"

namespace lull::testing {
namespace {

__global__ void fail() { __trap(); }

}  // namespace

void break_device(int device) {
  const cuda::DeviceScope scope(device);
  fail<<<1, 1>>>();
}

}  // namespace lull::testing
