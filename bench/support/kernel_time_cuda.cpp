#include <algorithm>

#include "bench/support/device_time.h"
#include "bench/support/kernel_time.h"
#include "bm3d/cuda/slot.h"

namespace lull::bench {

double kernels_ms(const bm3d::Params& params, const Frame& noisy, int device) {
  const cuda::DeviceScope scope(device);
  bm3d::CudaSlot slot(params, noisy.format);
  slot.upload(noisy);
  const DeviceTimer timer(slot.stream());
  const auto filter = [&] { slot.filter(); };
  const double once = timer.repeat(3, filter).median();
  return timer.repeat(std::clamp(static_cast<int>(333 / once), 5, 1000), filter).median();
}

}  // namespace lull::bench
