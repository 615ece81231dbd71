#pragma once
// Options about the run: devices, progress, logs, reports, jobs and behaviour after errors.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "io/jobs.h"
#include "tools/report/log.h"
#include "tools/report/progress.h"

namespace lull::tools {

enum class DeviceKind { automatic, reference, cpu, cuda };

struct DeviceChoice {
  DeviceKind kind = DeviceKind::automatic;
  std::vector<int> gpus;  // for cuda: indices of visible GPUs without repetition; empty: all
};

enum class Hwaccel { none, cuda };  // cuda: a GPU decodes if it can

/// Whether the CPU denoises if a requested GPU is missing or too small, or fails during the run.
/// cpu_at_start: not if the GPU fails during the run.
enum class Fallback { none, cpu_at_start, cpu };

/// A job that several processes share (lull plan).
struct SharedJob {
  std::string folder;                      // empty: no shared job
  std::optional<io::FrameRange> segments;  // segments to denoise; empty: all
  bool plans = false;                      // this process plans the job
  std::shared_ptr<io::JobPlan> plan = {};  // read from the folder, or planned by this process
  std::int64_t start_picture = 0;          // io::SourceOptions::start_picture
  int accepted_damage = 0;                 // --max-decode-errors of the plan

  /// Whether this run makes segments of a job that was planned before.
  bool is_part() const { return plan && !plans; }
};

/// The page of --report.
struct PageOptions {
  std::string file;                  // HTML file; empty: no page
  std::string reference;             // a clean version of the input; empty: none
  std::vector<std::int64_t> frames;  // frames to show, ascending, from 0; empty: lull chooses
};

struct RunOptions {
  bool quiet = false;
  DeviceChoice device;
  Hwaccel hwaccel = Hwaccel::none;
  int streams = bm3d::default_streams;
  int threads = 0;
  Fallback fallback = Fallback::none;
  ProgressOptions progress;
  LogOptions log;
  PageOptions page;
  int segment_frames = 0;  // 0: no segments
  bool resume = false;
  SharedJob job;
};

}  // namespace lull::tools
