#include "cuda/handles.h"
#include "support/broken_device.h"

namespace lull::test_support {
namespace {

__global__ void fail() { __trap(); }

}  // namespace

void break_device(int device) {
  const cuda::DeviceScope scope(device);
  fail<<<1, 1>>>();
}

}  // namespace lull::test_support
