#pragma once
// The GPUs that this build can use on this machine, and how they get ready early.

#include <cstddef>
#include <string>
#include <thread>
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

/// Gets GPUs ready while others open files: the context of one takes a tenth of a second. Made in
/// threads of its own, which end with it.
class Waking {
 public:
  /// `devices`: indices among the visible ones, which need not exist; empty: all. What fails shows
  /// where the GPU is used.
  explicit Waking(std::vector<int> devices);

 private:
  std::jthread all_;
};

}  // namespace lull::cuda
