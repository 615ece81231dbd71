#pragma once
// Which driver there is, in words.

#include <string>

namespace lull::cuda {

/// Why the CUDA runtime finds the driver insufficient. Versions as CUDA gives them, 12040 for 12.4;
/// `driver` is the newest CUDA that the driver knows, 0 where there is none.
[[nodiscard]] inline std::string driver_problem(int driver, int runtime) {
  if (driver == 0) return "no NVIDIA driver here";
  const auto text = [](int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  };
  return "the NVIDIA driver knows CUDA up to " + text(driver) + ", this build needs " +
         text(runtime) + ": update the driver";
}

}  // namespace lull::cuda
