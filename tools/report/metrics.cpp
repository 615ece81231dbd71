#include "tools/report/metrics.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/version.h"
#include "io/text_file.h"
#include "tools/report/json.h"

namespace lull::tools {
namespace {

using namespace std::chrono_literals;
using Labels = std::vector<std::pair<std::string, std::string>>;

/// Escapes backslash, quotation mark and line feed in the value of a label.
std::string label_value(const std::string& text) {
  std::string out;
  for (const char c : as_utf8(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out;
}

std::string number_of(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

/// Builds lines of Prometheus's text format.
class Lines {
 public:
  explicit Lines(std::string output) : output_(std::move(output)) {}

  void family(const char* name, const char* type, const char* help) {
    name_ = name;
    text_ += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
  }
  void sample(double value, const Labels& labels = {}) {
    text_ += name_ + "{output=\"" + label_value(output_) + "\"";
    for (const auto& [name, value_text] : labels)
      text_ += "," + name + "=\"" + label_value(value_text) + "\"";
    text_ += "} " + number_of(value) + "\n";
  }
  void metric(const char* name, const char* type, const char* help, double value) {
    family(name, type, help);
    sample(value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string output_, name_, text_;
};

/// Returns whether the error comes from the file name or a missing permission, and not from a
/// write.
bool is_name_error(int error) {
  return error == ENOENT || error == ENOTDIR || error == EISDIR || error == EACCES ||
         error == EEXIST || error == EPERM || error == EROFS || error == ENAMETOOLONG ||
         error == ELOOP;
}

}  // namespace

Metrics::Metrics(std::string path) : path_(std::move(path)) {
  const int error = write("# lull: not started yet\n");
  if (error == 0) return;
  const std::string why = std::string(" (") + std::strerror(error) + ")";
  if (is_name_error(error))
    throw CannotCreate("--metrics-file " + path_ + " cannot be created" + why +
                       "; choose another name");
  throw IoError("--metrics-file " + path_ + " cannot be written" + why +
                "; free some space, or choose another name");
}

void Metrics::start(const MetricsFacts& facts) {
  facts_ = facts;
  last_ = std::chrono::steady_clock::now();
  (void)write(text({}, -1, 0));
}

void Metrics::update(const pipeline::PipelineStats& stats, std::size_t scene,
                     const std::vector<double>& sigma) {
  scene_ = scene;
  if (sigma_ != sigma) sigma_ = sigma;
  const auto now = std::chrono::steady_clock::now();
  if (now < last_ + 2s) return;
  last_ = now;
  (void)write(text(stats, -1, 0));
}

void Metrics::end(const pipeline::PipelineStats& stats, int exit_code,
                  std::int64_t damaged_frames) {
  (void)write(text(stats, exit_code, damaged_frames));
}

std::string Metrics::text(const pipeline::PipelineStats& stats, int exit_code,
                          std::int64_t damaged_frames) const {
  Lines lines(facts_.output);
  std::string devices;
  for (const std::string& device : facts_.devices) devices += (devices.empty() ? "" : ",") + device;
  lines.family("lull_info", "gauge", "Version and devices of the run, always 1.");
  lines.sample(1, {{"version", std::string(version)}, {"devices", devices}});
  lines.metric("lull_frames_total", "counter", "Frames written, including those of an earlier run.",
               static_cast<double>(stats.frames));
  lines.metric("lull_frames_skipped_total", "counter", "Frames of these that an earlier run wrote.",
               static_cast<double>(stats.skipped));
  lines.metric("lull_frames_expected", "gauge", "Expected number of frames, 0 if unknown.",
               static_cast<double>(facts_.frames));
  lines.metric("lull_damaged_frames_total", "counter",
               "Damaged or missing frames of the input, set at the end of the run.",
               static_cast<double>(damaged_frames));
  lines.metric("lull_run_seconds", "gauge", "Time since the first frame was requested.",
               stats.seconds);
  lines.family("lull_stage_busy_seconds_total", "counter",
               "Time in which a stage worked and did not wait.");
  for (const auto stage :
       {pipeline::Stage::decode, pipeline::Stage::denoise, pipeline::Stage::encode})
    lines.sample(stats.busy[static_cast<int>(stage)], {{"stage", pipeline::stage_name(stage)}});
  lines.metric("lull_scene", "gauge", "Number of the scene of the last frame, counted from 0.",
               static_cast<double>(scene_));
  lines.family("lull_noise_sigma", "gauge",
               "Standard deviation of the noise in that scene, by plane, on the 0..255 scale.");
  for (std::size_t i = 0; i < sigma_.size(); ++i)
    lines.sample(sigma_[i], {{"plane", std::to_string(i)}});
  lines.metric("lull_finished", "gauge", "1 if the run has ended, with or without an error.",
               exit_code >= 0 ? 1 : 0);
  lines.metric("lull_exit_code", "gauge", "Exit code of the run, -1 while it runs.", exit_code);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  lines.family("lull_updated_timestamp_seconds", "gauge",
               "Unix time of the last update of this file.");
  char time[40];
  std::snprintf(time, sizeof time, "%.3f", now.count());
  lines.sample(std::stod(time));
  return lines.take();
}

// Replaces the file atomically. The function does not call fsync(), because metrics need not
// survive a system crash.
int Metrics::write(const std::string& text) const {
  errno = 0;
  if (io::replace_text(path_, text)) return 0;
  return errno != 0 ? errno : EIO;
}

}  // namespace lull::tools
