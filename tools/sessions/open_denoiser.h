#pragma once
// From backends to the session that a run uses, with less where memory is short.

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
  std::vector<bm3d::Backend> backends;  // what it runs on
};
struct OpenedDenoisers {
  std::vector<std::unique_ptr<Denoiser>> denoisers;
  std::vector<bm3d::Backend> backends;  // what each of them runs on
};

/// Opens a session for each of `backends`. Where they are several, they share the frames, or over
/// time parts of the clip, whose frames must be in the host's memory then. Where the memory
/// of a device does not suffice, that device gets fewer streams, then smaller batches, which change
/// no byte of the result; if that does not help and `fallback` allows it, all is left to the CPU
/// (never a part of the frames: its bytes differ from a GPU's).
///
/// A device that fails later leaves its frames to the others; when the last one fails and
/// `fallback` is cpu, the rest is left to the CPU: what a GPU has given back stays, and the
/// bytes from there on are the CPU's. Else the session throws DeviceFailure.
///
/// Each step is told to `notify`, a line each, also later and from any thread.
/// @throws OutOfDeviceMemory  a device cannot hold the smallest session
/// @throws DeviceFailure      a device fails at once
/// @throws whatever `open` throws for other reasons
[[nodiscard]] OpenedDenoiser open_denoiser(const Method& params, const FrameFormat& format,
                                           const std::vector<bm3d::Backend>& backends,
                                           Fallback fallback, const Notify& notify,
                                           const Opener& open = open_method);

/// The same for `count` clips at a time, which share the devices: a denoiser for each. At the start
/// a step on one of the devices, or to the CPU, is one for all of them. The failure of a device is
/// told once.
[[nodiscard]] OpenedDenoisers open_denoisers(int count, const Method& params,
                                             const FrameFormat& format,
                                             const std::vector<bm3d::Backend>& backends,
                                             Fallback fallback, const Notify& notify,
                                             const Opener& open = open_method);

/// "cuda:1", "cpu" or "reference".
[[nodiscard]] std::string name_of(const bm3d::Backend& backend);

}  // namespace lull::tools
