#include "tools/report/metrics.h"

#include <cstdio>
#include <utility>

#include "core/error.h"
#include "core/version.h"
#include "io/text_file.h"
#include "tools/report/json.h"

namespace lull::tools {
namespace {

using namespace std::chrono_literals;
using Labels = std::vector<std::pair<std::string, std::string>>;

/// Escapes backslash, quote and line feed in the value of a label.
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

/// Builds lines of the text format.
class Lines {
 public:
  explicit Lines(std::string output) : output_(std::move(output)) {}

  void family(const char* name, const char* type, const char* help) {
    name_ = name;
    text_ += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
  }
  void sample(double value, const Labels& labels = {}) {
    text_ += name_ + "{output=\"" + label_value(output_) + "\"";
    for (const auto& [name, of] : labels) text_ += "," + name + "=\"" + label_value(of) + "\"";
    text_ += "} " + number_of(value) + "\n";
  }
  void one(const char* name, const char* type, const char* help, double value) {
    family(name, type, help);
    sample(value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string output_, name_, text_;
};

}  // namespace

Metrics::Metrics(std::string path) : path_(std::move(path)) {
  if (!write("# lull: not started yet\n"))
    throw CannotCreate("--metrics-file " + path_ +
                       " cannot be written (no such folder, or no right to write); choose another "
                       "name");
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
  lines.one("lull_frames_total", "counter", "Frames written, those of an earlier run too.",
            static_cast<double>(stats.frames));
  lines.one("lull_frames_skipped_total", "counter", "Of these, frames that an earlier run made.",
            static_cast<double>(stats.skipped));
  lines.one("lull_frames_expected", "gauge", "Frames that there will be, 0 where nobody knows.",
            static_cast<double>(facts_.frames));
  lines.one("lull_damaged_frames_total", "counter",
            "Frames of the input that are damaged or missing, known at the end.",
            static_cast<double>(damaged_frames));
  lines.one("lull_run_seconds", "gauge", "Time since the first frame was asked for.",
            stats.seconds);
  lines.family("lull_stage_busy_seconds_total", "counter",
               "Time in which a stage worked rather than waited.");
  for (const auto stage :
       {pipeline::Stage::decode, pipeline::Stage::denoise, pipeline::Stage::encode})
    lines.sample(stats.busy[static_cast<int>(stage)], {{"stage", pipeline::stage_name(stage)}});
  lines.one("lull_scene", "gauge", "Number of the scene of the last frame, from 0.",
            static_cast<double>(scene_));
  lines.family("lull_noise_sigma", "gauge",
               "Standard deviation of the noise in that scene, by plane, on the 0..255 scale.");
  for (std::size_t i = 0; i < sigma_.size(); ++i)
    lines.sample(sigma_[i], {{"plane", std::to_string(i)}});
  lines.one("lull_finished", "gauge", "1 when the run has ended, however it did.",
            exit_code >= 0 ? 1 : 0);
  lines.one("lull_exit_code", "gauge", "Exit code of the run, -1 while it is at it.", exit_code);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  lines.family("lull_updated_timestamp_seconds", "gauge", "When this was written, since 1970.");
  char time[40];
  std::snprintf(time, sizeof time, "%.3f", now.count());
  lines.sample(std::stod(time));
  return lines.take();
}

// Readers see the old or the new text. There is no fsync, because the file is useless after a
// system crash.
bool Metrics::write(const std::string& text) const { return io::replace_text(path_, text); }

}  // namespace lull::tools
