#pragma once
// From --device to backends.

#include <optional>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "cuda/device_list.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct ChosenDevices {
  std::vector<bm3d::Backend> backends;  // one for each session, from 1
  std::string reason;                   // what auto or --fallback took and why; empty otherwise
};

/// Those that may be chosen get ready meanwhile; none where a CPU is asked for, a GPU that decodes,
/// or a plan of a job.
[[nodiscard]] std::optional<cuda::ContextWarmup> warm_up_devices(const DenoiseOptions& options);

/// @throws DeviceUnavailable  a GPU is asked for that is not there
[[nodiscard]] ChosenDevices choose_devices(const DenoiseOptions& options);

/// Highway's name of the instruction set that the CPU backend runs with: "AVX2".
[[nodiscard]] std::string cpu_target();

}  // namespace lull::tools
