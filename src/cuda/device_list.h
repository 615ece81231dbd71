#pragma once
// Lists the GPUs that the build can use, and creates their CUDA contexts in advance.

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace lull::cuda {

struct DeviceInfo {
  int index = 0;  // index among the visible devices (CUDA_VISIBLE_DEVICES)
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::size_t memory = 0;  // bytes
};

struct DeviceList {
  std::vector<DeviceInfo> devices;
  std::string reason;  // why `devices` is empty; empty if there are devices
};

/// Lists the visible devices. Without a driver or a device, `devices` is empty and `reason` states
/// the reason.
[[nodiscard]] DeviceList list_devices();

/// Returns the CUDA version of this build, for example "12.4". The string is empty in builds
/// without CUDA.
[[nodiscard]] std::string toolkit_version();
/// Returns the newest CUDA version that the driver supports. The string is empty without a driver.
[[nodiscard]] std::string driver_version();

/// Creates the CUDA contexts of GPUs in background threads, while the program opens files. The
/// creation of one context takes 0.1 s. The destructor waits for the threads.
class ContextWarmup {
 public:
  /// Begins to create the contexts of `devices`, the indices of visible devices. An empty list
  /// selects all devices. The constructor ignores missing devices and errors, because a session
  /// reports them when it uses the GPU.
  explicit ContextWarmup(std::vector<int> devices);

 private:
  std::jthread all_;
};

}  // namespace lull::cuda
