#pragma once
// Figures of a run for Prometheus, in its text format (version 0.0.4): a file that a collector, as
// that of the node exporter, reads whenever it likes.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/run.h"

namespace lull::tools {

struct MetricsFacts {
  std::string output;
  std::vector<std::string> devices;
  std::int64_t frames = 0;  // how many there will be; 0: unknown
};

/// Written beside its name and renamed, at the start, every two seconds and at the end; the file
/// stays. What cannot be written later on is left out: the next time may do.
class Metrics {
 public:
  /// @throws CannotCreate  the file cannot be written
  explicit Metrics(std::string path);

  void start(const MetricsFacts& facts);
  /// After each frame. `sigma`: of the noise of its scene, by plane, on the 0..255 scale.
  void update(const pipeline::PipelineStats& stats, std::size_t scene,
              const std::vector<double>& sigma);
  void end(const pipeline::PipelineStats& stats, int exit_code, std::int64_t damaged_frames);

  /// What is in the file. `exit_code`: -1 while the run is at it.
  [[nodiscard]] std::string text(const pipeline::PipelineStats& stats, int exit_code,
                                 std::int64_t damaged_frames) const;

 private:
  bool write(const std::string& text) const;

  std::string path_;
  MetricsFacts facts_;
  std::size_t scene_ = 0;
  std::vector<double> sigma_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace lull::tools
