#pragma once
// Selects the backends that --device requests.

#include <optional>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "cuda/device_list.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct ChosenDevices {
  std::vector<bm3d::Backend> backends;  // one per session, at least 1
  std::string reason;  // why auto or --fallback selected these backends; empty otherwise
};

/// Starts to create CUDA contexts in the background, on all GPUs that the run may select. Returns
/// no value in three cases: the run does not denoise on a GPU, the run only plans a job, or FFmpeg
/// decodes on a GPU and creates the contexts.
[[nodiscard]] std::optional<cuda::ContextWarmup> warm_up_devices(const RunOptions& options);

/// Selects the backends for the run.
/// @throws DeviceUnavailable  a requested GPU does not exist
[[nodiscard]] ChosenDevices choose_devices(const RunOptions& options);

/// Returns Highway's name for the instruction set of the CPU backend, for example "AVX2".
[[nodiscard]] std::string cpu_target();

}  // namespace lull::tools
