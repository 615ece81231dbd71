#pragma once
// Reports the progress of a run to users and to programs.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/frame.h"
#include "pipeline/run.h"
#include "tools/report/metrics.h"

namespace lull::tools {

enum class ProgressMode {
  automatic,  // bar on a terminal, otherwise plain
  bar,        // one line that is updated in place (progress_line.h)
  plain,      // a line every few seconds
  json,       // one JSON object per line: docs/progress.schema.json
  none,
};

struct ProgressOptions {
  ProgressMode mode = ProgressMode::automatic;
  int descriptor = 2;
  std::string metrics_file;  // file for Prometheus metrics (metrics.h); empty: none
};

/// Standard deviations of the noise in each plane, on the 0..255 scale. The noise levels apply to
/// frames from the time `from_s` on (Frame::pts in seconds).
struct SceneLevels {
  double from_s = 0;
  std::vector<double> sigma;
};

/// The properties of a run that lull knows before the first frame.
struct JobFacts {
  std::string input, output;
  FrameFormat format;
  std::int64_t frames = 0;  // expected number of frames; 0: unknown
  std::vector<std::string> devices;
  std::vector<SceneLevels> noise{};  // known noise, from the first scene on
  bool follows = false;              // whether on_new_scene() will report later scenes
};

/// Writes progress to a file descriptor. The run never waits for a full pipe: the object drops
/// lines that do not fit. Only for the last line, the object waits up to a second. Thread-safe.
class Progress {
 public:
  /// @param quiet  if true, ProgressMode::automatic shows no progress
  /// @throws InvalidArgument  the descriptor is not writable
  /// @throws CannotCreate, IoError  lull cannot create or write the file of metrics
  Progress(const ProgressOptions& options, bool quiet);

  void start(const JobFacts& facts);
  /// Adds a scene that lull detects during the run.
  void on_new_scene(const SceneLevels& scene);
  /// Updates the progress. The caller must call this function after each frame.
  /// @param time_s  pts of the frame in seconds
  void update(const pipeline::PipelineStats& stats, double time_s = 0);
  /// Removes the live progress line from the terminal.
  void clear();
  /// The following functions report the end of the run (success, error, or stop by a signal), and
  /// write a line only in JSON mode.
  void done(const pipeline::PipelineStats& stats, std::int64_t damaged_frames);
  void failed(int exit_code, const std::string& text, std::int64_t damaged_frames);
  void stopped(int signal);

 private:
  enum class Patience { none, second };
  struct End {
    const char* status;
    int exit_code;
    std::string text;
    std::int64_t damaged;
  };
  std::string line(const pipeline::PipelineStats& stats) const;
  std::string object(const pipeline::PipelineStats& stats) const;
  void show(const pipeline::PipelineStats& stats);
  std::size_t scene_at(double time_s) const;
  void end(const End& end);
  void clear_locked();
  void write(const std::string& text, Patience patience = Patience::none);

  ProgressMode mode_;
  int descriptor_;
  bool terminal_, shown_ = false, ended_ = false;
  std::mutex mutex_;
  JobFacts facts_;
  std::vector<SceneLevels> scenes_;
  pipeline::PipelineStats last_stats_, shown_stats_;
  std::size_t scene_ = 0;
  std::unique_ptr<Metrics> metrics_;
  std::chrono::steady_clock::time_point last_;
};

/// Returns the line with the summary of a run.
[[nodiscard]] std::string summary(const pipeline::PipelineStats& stats, const std::string& output);

}  // namespace lull::tools
