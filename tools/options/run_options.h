#pragma once
// The options that control the run: devices, progress, logs, reports, jobs and the reaction to
// errors.

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
  std::vector<int> gpus;  // indices of the GPUs for cuda, without repetition; empty: all
};

enum class Hwaccel { none, cuda };  // cuda: a GPU decodes if it supports the codec

/// States when the CPU may replace a GPU. cpu_at_start: if a requested GPU is missing or has too
/// little memory. cpu: also if a GPU fails during the run.
enum class Fallback { none, cpu_at_start, cpu };

/// The part of a shared job (lull plan) that this process computes.
struct SharedJob {
  std::string folder;                      // empty: the run is not part of a shared job
  std::optional<io::FrameRange> segments;  // range of segments to denoise; empty: all
  bool plans = false;                      // whether this process plans the job
  std::shared_ptr<io::JobPlan> plan = {};  // read from the job's folder, or created by this process
  std::int64_t start_picture = 0;          // io::SourceOptions::start_picture
  int accepted_damage = 0;                 // --max-decode-errors of the plan

  /// Returns whether this run computes segments of a shared job.
  bool is_part() const { return plan && !plans; }
};

/// Options of the HTML page of --report.
struct PageOptions {
  std::string file;       // HTML file; empty: no page
  std::string reference;  // file with a clean version of the input; empty: none
  // Numbers of the frames on the page, ascending, from 0. If empty, lull chooses the frames.
  std::vector<std::int64_t> frames;
};

struct RunOptions {
  bool quiet = false;
  std::string config;  // the settings file; empty: none. The parser has applied its values.
  DeviceChoice device;
  Hwaccel hwaccel = Hwaccel::none;
  int streams = bm3d::default_streams;
  int threads = 0;
  Fallback fallback = Fallback::none;
  ProgressOptions progress;
  LogOptions log;
  PageOptions page;
  int segment_frames = 0;  // length of a segment in frames; 0: the job has no segments
  bool resume = false;
  SharedJob job;
};

}  // namespace lull::tools
