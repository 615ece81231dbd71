#pragma once
// Error text for a missing or outdated NVIDIA driver.

#include <string>

namespace lull::cuda {

/// Returns the text of a version of CUDA, which is encoded as 12040 for 12.4.
[[nodiscard]] inline std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Returns the reason for the CUDA runtime's error "insufficient driver". Versions are encoded as
/// in CUDA: 12040 for 12.4. `driver` is the newest CUDA version that the driver supports, 0 without
/// a driver.
[[nodiscard]] inline std::string driver_problem(int driver, int runtime) {
  if (driver == 0) return "no NVIDIA driver here: to use an NVIDIA GPU, install its driver";
  return "the NVIDIA driver knows CUDA up to " + version_text(driver) + ", this build needs " +
         version_text(runtime) + ": update the driver";
}

}  // namespace lull::cuda
