#pragma once
// Opens the sessions of a run on its backends. If device memory is short, the sessions use less
// memory.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/denoiser.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/method.h"

namespace lull::tools {

using Opener = std::function<std::unique_ptr<Denoiser>(const Method&, const FrameFormat&,
                                                       const bm3d::Backend&)>;
using Notify = std::function<void(const std::string&)>;

struct OpenedDenoiser {
  std::unique_ptr<Denoiser> denoiser;
  std::vector<bm3d::Backend> backends;  // backends in use
};
struct OpenedDenoisers {
  std::vector<std::unique_ptr<Denoiser>> denoisers;
  std::vector<bm3d::Backend> backends;  // backends in use by each denoiser
};

/// Opens a session for one clip on each of `backends`. If device memory is short, the sessions use
/// less memory. `fallback` states whether the CPU may replace all GPUs. `notify` receives messages
/// from any thread.
/// @throws OutOfDeviceMemory, DeviceFailure
[[nodiscard]] OpenedDenoiser open_denoiser(const Method& params, const FrameFormat& format,
                                           const std::vector<bm3d::Backend>& backends,
                                           Fallback fallback, const Notify& notify,
                                           const Opener& open = open_method);

/// Opens one denoiser for each of `count` clips that share the devices, with equal memory settings
/// and the same fallback. The denoisers report a device failure only once.
[[nodiscard]] OpenedDenoisers open_denoisers(int count, const Method& params,
                                             const FrameFormat& format,
                                             const std::vector<bm3d::Backend>& backends,
                                             Fallback fallback, const Notify& notify,
                                             const Opener& open = open_method);

/// Returns the name of a backend: "cuda:1", "cpu" or "reference".
[[nodiscard]] std::string name_of(const bm3d::Backend& backend);

}  // namespace lull::tools
