#pragma once
// Error message for a missing or outdated NVIDIA driver.

#include <string>

namespace lull::cuda {

/// Returns a version of CUDA as a string, for example "12.4" for the code 12040.
[[nodiscard]] inline std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Returns the message for the CUDA error "insufficient driver". `driver` is the newest CUDA
/// version that the driver supports, or 0. Versions are codes, for example 12040 for CUDA 12.4.
[[nodiscard]] inline std::string driver_problem(int driver, int runtime) {
  if (driver == 0) return "no NVIDIA driver here: to use an NVIDIA GPU, install its driver";
  return "the NVIDIA driver knows CUDA up to " + version_text(driver) + ", this build needs " +
         version_text(runtime) + ": update the driver";
}

}  // namespace lull::cuda
