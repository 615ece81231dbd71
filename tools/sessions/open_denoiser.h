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

/// Opens a session for each of `backends`. Several sessions share the frames of a clip. Temporal
/// sessions share parts of the clip, and the frames must then be in host memory. If the memory of a
/// device is too small, the function reduces the number of streams of that device, then the size of
/// its batches; neither changes the results. If that does not suffice and `fallback` allows it, the
/// CPU denoises all frames. It never denoises only a part of the frames, because its results differ
/// from the results of a GPU.
///
/// If a device fails later, the other devices filter its frames. If the last device fails and
/// `fallback` is cpu, the CPU continues: results that a GPU has returned remain, and the CPU
/// computes all later ones. Otherwise the session throws DeviceFailure.
///
/// `notify` is called with one line of text for each of these events, possibly later and from any
/// thread.
/// @throws OutOfDeviceMemory  a device cannot hold the smallest session
/// @throws DeviceFailure      a device fails immediately
/// @throws any other error of opening a session
[[nodiscard]] OpenedDenoiser open_denoiser(const Method& params, const FrameFormat& format,
                                           const std::vector<bm3d::Backend>& backends,
                                           Fallback fallback, const Notify& notify,
                                           const Opener& open = open_method);

/// Opens one denoiser for each of `count` clips that share the devices. If memory must be reduced
/// or the CPU must replace a GPU at the start, this applies to all denoisers. The failure of a
/// device is reported once.
[[nodiscard]] OpenedDenoisers open_denoisers(int count, const Method& params,
                                             const FrameFormat& format,
                                             const std::vector<bm3d::Backend>& backends,
                                             Fallback fallback, const Notify& notify,
                                             const Opener& open = open_method);

/// Returns the name of a backend: "cuda:1", "cpu" or "reference".
[[nodiscard]] std::string name_of(const bm3d::Backend& backend);

}  // namespace lull::tools
