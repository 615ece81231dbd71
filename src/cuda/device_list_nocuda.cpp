#include "cuda/device_list.h"

namespace lull::cuda {

DeviceList list_devices() { return {{}, "built without CUDA"}; }

Waking::Waking(std::vector<int>) {}

}  // namespace lull::cuda
