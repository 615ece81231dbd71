#pragma once
// Metrics of a run for Prometheus, in its text format (version 0.0.4): a file that a collector,
// such as the node exporter, reads at any time.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/run.h"

namespace lull::tools {

struct MetricsFacts {
  std::string output;
  std::vector<std::string> devices;
  std::int64_t frames = 0;  // expected number of frames; 0: unknown
};

/// The file is written under a temporary name and renamed: at the start, every two seconds and at
/// the end. It remains after the run. Later write errors are ignored, as the next update may
/// succeed.
class Metrics {
 public:
  /// @throws CannotCreate  no file of this name can be created
  /// @throws IoError  the file cannot be written
  explicit Metrics(std::string path);

  void start(const MetricsFacts& facts);
  /// Called after each frame. `sigma`: noise levels of its scene by plane, on the 0..255 scale.
  void update(const pipeline::PipelineStats& stats, std::size_t scene,
              const std::vector<double>& sigma);
  void end(const pipeline::PipelineStats& stats, int exit_code, std::int64_t damaged_frames);

  /// Returns the content of the file. `exit_code`: -1 while the run is in progress.
  [[nodiscard]] std::string text(const pipeline::PipelineStats& stats, int exit_code,
                                 std::int64_t damaged_frames) const;

 private:
  /// Returns 0 or the number of the error (errno).
  int write(const std::string& text) const;

  std::string path_;
  MetricsFacts facts_;
  std::size_t scene_ = 0;
  std::vector<double> sigma_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace lull::tools
