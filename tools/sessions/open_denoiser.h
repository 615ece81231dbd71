#pragma once
// Opens the sessions of a run on its backends, with less memory if the memory of a device is too
// small.

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

/// Opens a session for each of `backends`. All sessions share the frames of a clip; temporal
/// sessions share parts of the clip, and frames must then be in host memory. If the memory of a
/// device is too small, the function first reduces the number of streams, and then the size of
/// batches. These numbers do not affect results. If it is still too small and `fallback` allows it,
/// the CPU denoises all frames. The CPU never replaces only some GPUs, because its results differ.
///
/// If a device fails during the run, the other devices filter its frames. If the last device fails
/// and `fallback` is cpu, the CPU filters the frames that have no result yet. Otherwise the session
/// throws DeviceFailure.
///
/// For each of these events, the function or the session calls `notify` with one line of text, from
/// any thread.
/// @throws OutOfDeviceMemory  a device cannot hold the smallest session
/// @throws DeviceFailure  a device fails immediately
/// @throws any other error of opening a session
[[nodiscard]] OpenedDenoiser open_denoiser(const Method& params, const FrameFormat& format,
                                           const std::vector<bm3d::Backend>& backends,
                                           Fallback fallback, const Notify& notify,
                                           const Opener& open = open_method);

/// Opens one denoiser for each of `count` clips that share the devices. If one denoiser must use
/// less memory, or the CPU instead of a GPU at the start, all denoisers do. The failure of a device
/// is reported once.
[[nodiscard]] OpenedDenoisers open_denoisers(int count, const Method& params,
                                             const FrameFormat& format,
                                             const std::vector<bm3d::Backend>& backends,
                                             Fallback fallback, const Notify& notify,
                                             const Opener& open = open_method);

/// Returns the name of a backend: "cuda:1", "cpu" or "reference".
[[nodiscard]] std::string name_of(const bm3d::Backend& backend);

}  // namespace lull::tools
