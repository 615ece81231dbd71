#include "tools/sessions/memory_need.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#include "bm3d/host_bytes.h"
#include "core/describe.h"
#include "core/error.h"

namespace lull::tools {
namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// Reads MemAvailable from /proc/meminfo, for example "MemAvailable:   17053552 kB", and returns
/// bytes.
std::int64_t available(const std::string& root) {
  std::ifstream file(root + "proc/meminfo");
  for (std::string name, rest; file >> name && std::getline(file, rest);)
    if (name == "MemAvailable:") return std::int64_t{1024} * std::atoll(rest.c_str());
  return no_limit;
}

/// Reads a memory limit in bytes from a file. A missing file or "max" means no limit.
std::int64_t limit_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t bytes = 0;
  return file >> bytes && bytes > 0 ? bytes : no_limit;
}

/// Returns the lowest memory limit of the process's control groups (cgroups(7)). Each line of
/// /proc/self/cgroup names a group: "0::/path" (version 2) or "4:memory:/path" (version 1). In a
/// container, the limit can also be directly in sys/fs/cgroup, the control group of the container.
std::int64_t memory_limit(const std::string& root) {
  const std::string groups = root + "sys/fs/cgroup";
  std::int64_t limit = std::min(limit_in(groups + "/memory.max"),
                                limit_in(groups + "/memory/memory.limit_in_bytes"));
  std::ifstream file(root + "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    std::istringstream parts(line);
    std::string number, controllers, path;
    std::getline(parts, number, ':');
    std::getline(parts, controllers, ':');
    std::getline(parts, path);
    if (!controllers.empty() && controllers != "memory") continue;
    const std::string folder = groups + (controllers.empty() ? "" : "/memory");
    const char* name = controllers.empty() ? "/memory.max" : "/memory.limit_in_bytes";
    for (; path.size() > 1; path.resize(path.rfind('/')))
      limit = std::min(limit, limit_in(folder + path + name));
  }
  return limit;
}

double bytes_of(const FrameFormat& format, double sample) {
  double samples = 0;
  for (int i = 0; i < format.planes(); ++i)
    samples += 1.0 * format.plane_width(i) * format.plane_height(i);
  return samples * sample;
}

}  // namespace

std::int64_t default_max_memory(const std::string& root) {
  const std::int64_t limit = std::min(available(root), memory_limit(root));
  return limit == no_limit ? 0 : limit / 2;
}

void set_default_max_memory(InputOptions& options) {
  std::int64_t& limit = options.source.limits.memory;
  if (limit == 0) limit = default_max_memory();
}

int part_frames(const Method& method, const FrameFormat& format, std::size_t sessions, int clips) {
  constexpr double gib = 1 << 30;
  const std::int64_t memory_limit = method.memory > 0 ? method.memory : default_max_memory();
  // Each session filters a part of the clip. The frames of all parts may use a quarter of the
  // memory limit, because the sessions themselves and the results also need memory.
  const double memory = std::clamp(static_cast<double>(memory_limit) / 4, gib, 8 * gib);
  const double frame = clips * bytes_of(format, format.bytes_per_sample());
  const double fitting = memory / frame / static_cast<double>(sessions + 1);
  const Margin margin = margin_of(method);
  const double max_frames = std::clamp(fitting, 4.0 * margin.before, 60.0 * margin.before);
  if (method.frames <= 0) return static_cast<int>(max_frames);
  const double count = static_cast<double>(method.frames), of_all = static_cast<double>(sessions);
  const double rounds = std::ceil(count / (of_all * max_frames));
  return static_cast<int>(std::max(std::ceil(count / (of_all * rounds)), 1.0 * margin.before));
}

// A BM3D session on a GPU requires host memory only for its frames.
std::int64_t host_memory(const PlannedSessions& plan) {
  const Margin margin = margin_of(plan.params);
  const bm3d::Backend& backend = plan.backends.front();
  const bool host = backend.kind != bm3d::BackendKind::cuda;
  const double frame = bytes_of(plan.frame, plan.frame.bytes_per_sample());
  const double inside = margin.after + 1;
  constexpr double queues = 2 * 4 + 3;  // pipeline::PipelineOptions, and one frame in each stage
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  double frames = queues + std::min(backend.threads > 0 ? backend.threads : cores, 16);
  double bytes = plan.other_bytes;
  if (plan.params.render && plan.params.means && (host || plan.backends.size() == 1)) {
    nlm::FeatureParams params;
    params.temporal = plan.params.means->temporal;
    bytes += nlm::host_bytes(params, plan.frame);
    frames += inside;
  } else if (plan.params.means && (host || plan.backends.size() == 1)) {
    bytes += nlm::host_bytes(*plan.params.means, plan.frame, backend.kind);
    frames += inside;
  } else if (plan.params.volumes && (host || plan.backends.size() == 1)) {
    bytes += bm4d::host_bytes(*plan.params.volumes, plan.frame, backend.kind);
  } else if (host) {
    bytes += bm3d::host_bytes(plan.params.pictures, plan.frame, backend.kind);
  } else if (margin == Margin{} || plan.backends.size() == 1) {
    frames += 2 * (inside + backend.streams) * static_cast<double>(plan.backends.size());
  } else {
    const double parts = static_cast<double>(plan.backends.size() + 1);
    frames += parts * part_frames(plan.params, plan.frame, plan.backends.size(), 1);
  }
  // A still picture requires memory for its samples and its result, but not for full queues.
  if (plan.params.frames == 1) frames = 2;
  // A render requires memory for its feature buffers (at most 12 planes per frame) and for the
  // variance-stabilised picture.
  if (plan.params.render)
    bytes += (frames + 2 * inside) * 14 * plan.frame.width * plan.frame.height * sizeof(float);
  if (plan.params.volume_noise) bytes += inside * bytes_of(plan.frame, sizeof(float));
  return static_cast<std::int64_t>(bytes + frames * frame);
}

void check_memory(const InputOptions& options, const PlannedSessions& plan) {
  const std::int64_t limit = options.source.limits.memory, need = host_memory(plan);
  if (limit <= 0 || need <= limit) return;
  const bool temporal = plan.params.is_temporal();
  throw OutOfMemory("frames of " + describe(plan.frame) + " need about " + describe_bytes(need) +
                    " of memory (the limit is " + describe_bytes(limit) + "); " +
                    (temporal ? "give a smaller --temporal, or " : "") +
                    "raise the limit with --max-memory " + std::to_string((need >> 20) + 1) + "M");
}

}  // namespace lull::tools
