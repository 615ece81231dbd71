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

// Minimum length of the longer side of a batch, the area of the reference patches that one kernel
// launch processes. Smaller batches leave a GPU partly idle.
constexpr int min_batch = 128;  // side in samples

std::string text_of(const bm3d::BatchSize& batch) {
  return std::to_string(batch.width) + "x" + std::to_string(batch.height);
}

/// Reduces the device memory of a session by one step: fewer streams, or a smaller batch. For a
/// temporal session, fewer streams save no memory, because all streams share one ring buffer.
/// Returns a description of the step, or an empty string if no further step is possible.
std::string reduce(bm3d::Params& params, bm3d::Backend& backend, const FrameFormat& format) {
  if (params.temporal == 0 && backend.streams > 1) {
    backend.streams /= 2;
    return "using --streams " + std::to_string(backend.streams);
  }
  // A batch larger than the frame has no effect. The function therefore limits the batch to the
  // size of the frame before it halves the longer side.
  bm3d::BatchSize batch{std::min(params.batch.width, format.width),
                        std::min(params.batch.height, format.height)};
  int& side = batch.width >= batch.height ? batch.width : batch.height;
  if (side / 2 < min_batch) return {};
  side /= 2;
  params.batch = batch;
  return "using --batch " + text_of(batch);
}

using Sessions = std::vector<std::unique_ptr<Denoiser>>;

/// Opens `count` sessions on one device.
Sessions open_within_memory(int count, Method params, const FrameFormat& format,
                            bm3d::Backend& backend, const Notify& notify, const Opener& open) {
  for (;;) {
    Sessions sessions;  // if a later session does not fit, these are closed
    try {
      while (static_cast<int>(sessions.size()) < count)
        sessions.push_back(open(params, format, backend));
      return sessions;
    } catch (const OutOfDeviceMemory&) {
      // Only BM3D sessions have parameters that reduce their memory.
      const std::string step =
          params.has_batches() ? reduce(params.pictures, backend, format) : std::string();
      if (step.empty()) throw;
      notify(name_of(backend) + " has too little memory; " + step);
    }
  }
}

bool cpu_may_help(const Error& error) {
  return dynamic_cast<const OutOfDeviceMemory*>(&error) != nullptr ||
         error.kind() == ErrorKind::device_failed;
}

/// The devices whose failure lull has already reported, so that it reports each failure once.
/// Several denoisers share the devices, and each of them detects a failure separately.
class ReportedFailures {
 public:
  bool is_first_of_device(std::size_t device) {
    const std::lock_guard lock(mutex_);
    return devices_.insert(device).second;
  }
  bool is_first_fallback() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(fallback_reported_, true);
  }

 private:
  std::mutex mutex_;
  std::set<std::size_t> devices_;
  bool fallback_reported_ = false;
};

/// Returns the callbacks for a device failure, which tell the user about the failure. If
/// `cpu_fallback` is not empty, the callback `replace` calls it to open a replacement session.
pipeline::ShardOptions failure_options(const Notify& notify,
                                       const std::shared_ptr<ReportedFailures>& reported,
                                       std::function<std::unique_ptr<Denoiser>()> cpu_fallback) {
  pipeline::ShardOptions options;
  options.on_session_lost = [=](std::size_t device, const DeviceFailure& why, std::size_t left) {
    if (!reported->is_first_of_device(device)) return;
    notify(without_suggestion(why.what()) + "; its frames are processed by the other " +
           (left == 1 ? "GPU" : std::to_string(left) + " GPUs"));
  };
  if (cpu_fallback)
    options.replace = [=](const DeviceFailure& why) {
      if (reported->is_first_fallback())
        notify(without_suggestion(why.what()) +
               "; the CPU processes the remaining frames; its results differ from a GPU's");
      return cpu_fallback();
    };
  return options;
}

/// Combines the sessions on all devices into one denoiser. If the only session of a temporal filter
/// fails, the replacement session filters the pending frames and their margin.
/// @param clips  number of clips that are open at the same time; each has a denoiser, and the
///     denoisers share the memory for frames
std::unique_ptr<Denoiser> combine(Sessions sessions, int clips, const Method& params,
                                  const FrameFormat& format, pipeline::ShardOptions options) {
  if (sessions.size() == 1 && !options.replace) return std::move(sessions.front());
  const Margin margin = margin_of(params);
  const bool is_single_frame = margin == Margin{};
  if (sessions.size() == 1 || is_single_frame)
    return pipeline::shard(std::move(sessions), std::move(options),
                           is_single_frame ? nullptr : open_repeat_finder(params, format));
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
  const bm3d::Backend cpu{.kind = bm3d::BackendKind::cpu,
                          .threads = backends.front().threads,
                          .results = backends.front().results};
  OpenedDenoisers result{.denoisers = {}, .backends = backends};
  std::vector<Sessions> on_devices;  // for each device, the sessions of all denoisers
  try {
    for (bm3d::Backend& backend : result.backends)
      on_devices.push_back(open_within_memory(count, params, format, backend, notify, open));
  } catch (const Error& error) {
    if (fallback == Fallback::none || !cpu_may_help(error)) throw;
    on_devices.clear();  // frees the memory of the sessions
    notify("denoising on the CPU (" + std::string(error.what()) + ")");
    result.backends = {cpu};
    on_devices.push_back(
        open_within_memory(count, params, format, result.backends[0], notify, open));
  }
  const bool gpus = result.backends.front().kind == bm3d::BackendKind::cuda;
  std::function<std::unique_ptr<Denoiser>()> cpu_fallback;
  if (fallback == Fallback::cpu && gpus) cpu_fallback = [=] { return open(params, format, cpu); };
  const auto reported = std::make_shared<ReportedFailures>();
  for (int i = 0; i < count; ++i) {
    Sessions sessions;
    for (Sessions& on_device : on_devices) sessions.push_back(std::move(on_device[i]));
    result.denoisers.push_back(combine(std::move(sessions), count, params, format,
                                       failure_options(notify, reported, cpu_fallback)));
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
