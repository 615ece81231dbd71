#pragma once
// Metrics of a run in the text format of Prometheus (version 0.0.4), readable at any time.

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

/// Replaces the file of metrics at the start, every two seconds, and at the end. After the start,
/// the object ignores write errors.
class Metrics {
 public:
  /// @throws CannotCreate  lull cannot create a file with the given name
  /// @throws IoError  lull cannot write the file
  explicit Metrics(std::string path);

  void start(const MetricsFacts& facts);
  /// Updates the metrics. The caller must call this function after each frame.
  /// @param sigma  noise levels of the scene of the frame, by plane, on the 0..255 scale
  void update(const pipeline::PipelineStats& stats, std::size_t scene,
              const std::vector<double>& sigma);
  void end(const pipeline::PipelineStats& stats, int exit_code, std::int64_t damaged_frames);

  /// @param exit_code  -1 while the run is in progress
  [[nodiscard]] std::string text(const pipeline::PipelineStats& stats, int exit_code,
                                 std::int64_t damaged_frames) const;

 private:
  /// Writes the file. Returns 0, or errno after an error.
  int write(const std::string& text) const;

  std::string path_;
  MetricsFacts facts_;
  std::size_t scene_ = 0;
  std::vector<double> sigma_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace lull::tools
