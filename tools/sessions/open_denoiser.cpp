#include "tools/sessions/open_denoiser.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "core/error.h"
#include "pipeline/part_scheduler.h"
#include "pipeline/sharded_denoiser.h"
#include "tools/sessions/memory_need.h"

namespace lull::tools {
namespace {

// Half a batch needs about half the memory; below this side, a GPU has too little to do at a time.
constexpr int smallest_batch = 128;  // samples

std::string text_of(const bm3d::BatchSize& batch) {
  return std::to_string(batch.width) + "x" + std::to_string(batch.height);
}

/// Takes the next step down; "" if there is none. Over time frames are in one ring, whatever the
/// number of streams.
std::string reduce(bm3d::Params& params, bm3d::Backend& backend, const FrameFormat& format) {
  if (params.temporal == 0 && backend.streams > 1) {
    backend.streams /= 2;
    return "using --streams " + std::to_string(backend.streams);
  }
  // More than a frame is never worked on.
  bm3d::BatchSize batch{std::min(params.batch.width, format.width),
                        std::min(params.batch.height, format.height)};
  int& side = batch.width >= batch.height ? batch.width : batch.height;
  if (side / 2 < smallest_batch) return {};
  side /= 2;
  params.batch = batch;
  return "using --batch " + text_of(batch);
}

using Sessions = std::vector<std::unique_ptr<Denoiser>>;

/// `count` sessions on one device.
Sessions open_within_memory(int count, Method params, const FrameFormat& format,
                            bm3d::Backend& backend, const Notify& notify, const Opener& open) {
  for (;;) {
    Sessions sessions;  // those that fit go where another does not
    try {
      while (static_cast<int>(sessions.size()) < count)
        sessions.push_back(open(params, format, backend));
      return sessions;
    } catch (const OutOfDeviceMemory&) {
      // Other methods than BM3D have nothing that could be less.
      const std::string step =
          params.has_batches() ? reduce(params.pictures, backend, format) : std::string();
      if (step.empty()) throw;
      notify(name_of(backend) + " is short of memory; " + step);
    }
  }
}

bool cpu_may_help(const Error& error) {
  return dynamic_cast<const OutOfDeviceMemory*>(&error) != nullptr ||
         error.kind() == ErrorKind::device_failed;
}

/// What was reported of failures, for several that share the devices: each learns of them by itself.
class ReportedFailures {
 public:
  bool first_of(std::size_t device) {
    const std::lock_guard lock(mutex_);
    return devices_.insert(device).second;
  }
  bool first_of_last_resort() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(last_resort_, true);
  }

 private:
  std::mutex mutex_;
  std::set<std::size_t> devices_;
  bool last_resort_ = false;
};

/// What is reported and done when devices fail. `last_resort` may be empty.
pipeline::ShardOptions on_failures(const Notify& notify, const std::shared_ptr<ReportedFailures>& reported,
                                   std::function<std::unique_ptr<Denoiser>()> last_resort) {
  pipeline::ShardOptions options;
  options.on_session_lost = [=](std::size_t device, const DeviceFailure& why, std::size_t left) {
    if (!reported->first_of(device)) return;
    notify(without_suggestion(why.what()) + "; its frames go to the other " +
        (left == 1 ? "GPU" : std::to_string(left) + " GPUs"));
  };
  if (last_resort)
    options.replace = [=](const DeviceFailure& why) {
      if (reported->first_of_last_resort())
        notify(without_suggestion(why.what()) +
            "; the CPU does the rest, whose bytes differ from a GPU's");
      return last_resort();
    };
  return options;
}

/// One session of all, for one of `clips` whose frames hold each other's memory. What follows the
/// loss of a single one that looks at other frames looks at those whose results are not out.
std::unique_ptr<Denoiser> share(Sessions sessions, int clips, const Method& params,
                                const FrameFormat& format, pipeline::ShardOptions options) {
  if (sessions.size() == 1 && !options.replace) return std::move(sessions.front());
  const Margin margin = margin_of(params);
  const bool alone = margin == Margin{};
  if (sessions.size() == 1 || alone)
    return pipeline::shard(std::move(sessions), std::move(options),
                           alone ? nullptr : open_repeat_finder(params, format));
  const int frames = part_frames(params, format, sessions.size(), clips);
  return pipeline::shard_parts(std::move(sessions), {.margin = margin,
                                                     .frames = frames,
                                                     .repeats = open_repeat_finder(params, format),
                                                     .shard = std::move(options)});
}

}  // namespace

std::string name_of(const bm3d::Backend& backend) {
  switch (backend.kind) {
    case bm3d::BackendKind::reference:
      return "reference";
    case bm3d::BackendKind::cpu:
      return "cpu";
    case bm3d::BackendKind::cuda:
      return "cuda:" + std::to_string(backend.device);
  }
  return {};
}

OpenedDenoisers open_denoisers(int count, const Method& params, const FrameFormat& format,
                               const std::vector<bm3d::Backend>& backends, Fallback fallback,
                               const Notify& notify, const Opener& open) {
  const bm3d::Backend cpu{.kind = bm3d::BackendKind::cpu, .threads = backends.front().threads};
  OpenedDenoisers result{.denoisers = {}, .backends = backends};
  std::vector<Sessions> on_devices;  // for each device, those of all denoisers
  try {
    for (bm3d::Backend& backend : result.backends)
      on_devices.push_back(open_within_memory(count, params, format, backend, notify, open));
  } catch (const Error& error) {
    if (fallback == Fallback::none || !cpu_may_help(error)) throw;
    on_devices.clear();  // gives the memory back
    notify("denoising on the CPU (" + std::string(error.what()) + ")");
    result.backends = {cpu};
    on_devices.push_back(open_within_memory(count, params, format, result.backends[0], notify, open));
  }
  const bool gpus = result.backends.front().kind == bm3d::BackendKind::cuda;
  std::function<std::unique_ptr<Denoiser>()> last_resort;
  if (fallback == Fallback::cpu && gpus) last_resort = [=] { return open(params, format, cpu); };
  const auto reported = std::make_shared<ReportedFailures>();
  for (int i = 0; i < count; ++i) {
    Sessions sessions;
    for (Sessions& on_device : on_devices) sessions.push_back(std::move(on_device[i]));
    result.denoisers.push_back(
        share(std::move(sessions), count, params, format, on_failures(notify, reported, last_resort)));
  }
  return result;
}

OpenedDenoiser open_denoiser(const Method& params, const FrameFormat& format,
                             const std::vector<bm3d::Backend>& backends, Fallback fallback,
                             const Notify& notify, const Opener& open) {
  OpenedDenoisers opened = open_denoisers(1, params, format, backends, fallback, notify, open);
  return {std::move(opened.denoisers.front()), std::move(opened.backends)};
}

}  // namespace lull::tools
