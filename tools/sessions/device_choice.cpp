#include "tools/sessions/device_choice.h"

#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>

#include "core/error.h"

namespace lull::tools {
namespace {

bm3d::Backend gpu(const RunOptions& options, int device) {
  return {.kind = bm3d::BackendKind::cuda,
          .device = device,
          .streams = options.streams,
          .threads = options.threads};
}

std::string describe(const std::vector<cuda::DeviceInfo>& devices) {
  std::string text = "device cuda:";
  for (const auto& device : devices)
    text += (&device == &devices.front() ? "" : ",") + std::to_string(device.index);
  text += " (" + std::to_string(devices.size()) + (devices.size() == 1 ? " GPU: " : " GPUs: ");
  for (const auto& device : devices)
    text += (&device == &devices.front() ? "" : ", ") + device.name;
  return text + ")";
}

}  // namespace

std::string cpu_target() {
  // HWY_TARGETS contains the instruction sets of the build as bits, the lowest bit for the most
  // capable set. Highway uses the lowest bit that the CPU supports.
  const auto supported = static_cast<std::uint64_t>(hwy::SupportedTargets() & HWY_TARGETS);
  return hwy::TargetName(static_cast<std::int64_t>(supported & (~supported + 1)));
}

std::optional<cuda::ContextWarmup> warm_up_devices(const RunOptions& options) {
  const DeviceKind kind = options.device.kind;
  if (kind == DeviceKind::cpu || kind == DeviceKind::reference || options.job.plans)
    return std::nullopt;
  // If FFmpeg decodes on a GPU, lull creates no CUDA context, because FFmpeg rejects CUDA contexts
  // with flags that differ from its own flags.
  if (options.hwaccel == Hwaccel::cuda) return std::nullopt;
  return std::optional<cuda::ContextWarmup>(std::in_place, options.device.gpus);
}

ChosenDevices choose_devices(const RunOptions& options) {
  ChosenDevices chosen;
  const DeviceChoice& choice = options.device;
  if (choice.kind == DeviceKind::cpu || choice.kind == DeviceKind::reference) {
    const bool cpu = choice.kind == DeviceKind::cpu;
    chosen.backends = {{.kind = cpu ? bm3d::BackendKind::cpu : bm3d::BackendKind::reference,
                        .threads = options.threads}};
    return chosen;
  }
  const cuda::DeviceList list = cuda::list_devices();
  if (choice.kind == DeviceKind::automatic && list.devices.empty()) {
    chosen.backends = {{.kind = bm3d::BackendKind::cpu, .threads = options.threads}};
    chosen.reason = "device cpu (no GPU: " + list.reason + ")";
    return chosen;
  }
  if (list.devices.empty() && options.fallback == Fallback::cpu) {
    chosen.backends = {{.kind = bm3d::BackendKind::cpu, .threads = options.threads}};
    chosen.reason = "denoising on the CPU (no GPU: " + list.reason + ")";
    return chosen;
  }
  if (list.devices.empty())
    throw DeviceUnavailable("no usable GPU (" + list.reason + "); try --device cpu");
  if (choice.gpus.empty())
    for (const auto& device : list.devices) chosen.backends.push_back(gpu(options, device.index));
  for (const int index : choice.gpus) {
    const bool is_visible = std::any_of(list.devices.begin(), list.devices.end(),
                                        [&](const auto& device) { return device.index == index; });
    if (!is_visible)
      throw DeviceUnavailable("no GPU " + std::to_string(index) + " (" +
                              std::to_string(list.devices.size()) + " visible); see lull devices");
    chosen.backends.push_back(gpu(options, index));
  }
  if (choice.kind == DeviceKind::automatic) chosen.reason = describe(list.devices);
  return chosen;
}

}  // namespace lull::tools
