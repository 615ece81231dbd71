#pragma once
// How far a run is, for people and for programs.

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
  automatic,  // bar on a terminal, else plain
  bar,        // one line rewritten in place: progress_line.h
  plain,      // a line every few seconds
  json,       // an object a line: docs/progress.schema.json
  none,
};

struct ProgressOptions {
  ProgressMode mode = ProgressMode::automatic;
  int descriptor = 2;
  std::string metrics_file;  // for Prometheus: metrics.h; empty: none
};

/// The noise from a time on, Frame::pts in seconds: standard deviations by plane, 0..255 scale.
struct SceneLevels {
  double from_s = 0;
  std::vector<double> sigma;
};

/// What is known when a run begins.
struct JobFacts {
  std::string input, output;
  FrameFormat format;
  std::int64_t frames = 0;  // how many there will be; 0: unknown
  std::vector<std::string> devices;
  std::vector<SceneLevels> noise{};  // that is known, from the first scene on
  bool follows = false;              // all scenes but the first are told when they come: learn()
};

/// Writes to a file descriptor, and never waits for who reads it: what does not fit into a pipe is
/// left out, but for the last line, which gets a second. All functions but the constructor may be
/// called from any thread.
class Progress {
 public:
  /// `quiet`: automatic is none.
  /// @throws InvalidArgument  nothing can be written to the descriptor
  Progress(const ProgressOptions& options, bool quiet);

  void start(const JobFacts& facts);
  /// A scene behind those so far.
  void learn(const SceneLevels& scene);
  /// To be called after each frame. `time_s`: its pts.
  void update(const pipeline::PipelineStats& stats, double time_s = 0);
  /// Removes the live line.
  void clear();
  /// The end, one of these: the output is whole; an error; a stop by a signal. Only JSON says so.
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

/// The line that tells what a run did.
[[nodiscard]] std::string summary(const pipeline::PipelineStats& stats, const std::string& output);

}  // namespace lull::tools
