#pragma once
// Opens the sessions of a run on its backends, with reduced memory if necessary.

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

/// Opens a session for each of `backends`. Several sessions share the frames of a clip, or, over
/// time, parts of it; then the frames must be in host memory. If the memory of a device is too
/// small, that device gets fewer streams, then smaller batches; neither changes the results. If
/// that does not help and `fallback` allows it, the CPU does all the work, not only a part of the
/// frames, because its results differ from a GPU's.
///
/// If a device fails later, the others take over its frames. If the last device fails and
/// `fallback` is cpu, the CPU takes over: results that a GPU has returned remain, and all later
/// ones are the CPU's. Otherwise the session throws DeviceFailure.
///
/// `notify` receives one line for each step, also later and from any thread.
/// @throws OutOfDeviceMemory  a device cannot hold the smallest session
/// @throws DeviceFailure      a device fails at once
/// @throws whatever `open` throws for other reasons
[[nodiscard]] OpenedDenoiser open_denoiser(const Method& params, const FrameFormat& format,
                                           const std::vector<bm3d::Backend>& backends,
                                           Fallback fallback, const Notify& notify,
                                           const Opener& open = open_method);

/// Opens one denoiser for each of `count` clips that share the devices. At the start, a memory
/// reduction or the fallback to the CPU applies to all of them. The failure of a device is reported
/// once.
[[nodiscard]] OpenedDenoisers open_denoisers(int count, const Method& params,
                                             const FrameFormat& format,
                                             const std::vector<bm3d::Backend>& backends,
                                             Fallback fallback, const Notify& notify,
                                             const Opener& open = open_method);

/// Returns "cuda:1", "cpu" or "reference".
[[nodiscard]] std::string name_of(const bm3d::Backend& backend);

}  // namespace lull::tools
