#pragma once
// The GPUs that this build can use on this machine.

#include <cstddef>
#include <string>
#include <vector>

namespace lull::cuda {

struct DeviceInfo {
  int index = 0;  // among the visible devices (CUDA_VISIBLE_DEVICES)
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::size_t memory = 0;  // bytes
};

struct DeviceList {
  std::vector<DeviceInfo> devices;
  std::string reason;  // why `devices` is empty; empty otherwise
};

/// Never throws for want of a driver or device: the list is then empty and says why.
[[nodiscard]] DeviceList list_devices();

}  // namespace lull::cuda
