#include "tools/report/progress.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>

#include "core/error.h"
#include "core/version.h"
#include "tools/report/json.h"
#include "tools/report/progress_line.h"

namespace lull::tools {
namespace {

using namespace std::chrono_literals;

std::chrono::milliseconds interval(ProgressMode mode) {
  switch (mode) {
    case ProgressMode::bar:
      return 100ms;
    case ProgressMode::json:
      return 500ms;
    default:
      return 5000ms;
  }
}

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  const int length = std::snprintf(text, sizeof text, pattern, values...);
  return {text, static_cast<std::size_t>(std::max(0, std::min<int>(length, sizeof text - 1)))};
}

int percent(double share) { return static_cast<int>(std::lround(100 * share)); }

/// Rounds a value to thousandths. Values that are not finite become null in JSON.
Json rounded(double value) { return std::round(1000 * value) / 1000; }

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::gray:
      return "gray";
    case Layout::yuv:
      return "yuv";
    case Layout::rgb:
      return "rgb";
  }
  return "";
}

}  // namespace

Progress::Progress(const ProgressOptions& options, bool quiet)
    : mode_(options.mode),
      descriptor_(options.descriptor),
      terminal_(isatty(options.descriptor) != 0),
      last_(std::chrono::steady_clock::now()) {
  if (mode_ == ProgressMode::automatic)
    mode_ = quiet ? ProgressMode::none : terminal_ ? ProgressMode::bar : ProgressMode::plain;
  const int flags = fcntl(descriptor_, F_GETFL);
  if (descriptor_ != STDERR_FILENO && (flags < 0 || (flags & O_ACCMODE) == O_RDONLY))
    throw InvalidArgument("--progress-fd " + std::to_string(descriptor_) +
                          " (it is not open for writing); open it, as in 3>progress.json");
  if (!options.metrics_file.empty()) metrics_ = std::make_unique<Metrics>(options.metrics_file);
}

void Progress::start(const JobFacts& facts) {
  const std::lock_guard lock(mutex_);
  facts_ = facts;
  scenes_ = facts.noise;
  if (facts.follows) scenes_.resize(std::min<std::size_t>(scenes_.size(), 1));
  // The interval to the first report starts here. In JSON mode, the object reports the first frame
  // immediately.
  last_ = mode_ == ProgressMode::json ? std::chrono::steady_clock::time_point::min()
                                      : std::chrono::steady_clock::now();
  if (metrics_)
    metrics_->start({.output = facts.output, .devices = facts.devices, .frames = facts.frames});
  if (mode_ != ProgressMode::json) return;
  Json noise = Json::array();
  for (const SceneLevels& scene : facts.noise)
    noise.push_back({{"from_seconds", rounded(scene.from_s)}, {"sigma", numbers(scene.sigma)}});
  const FrameFormat& format = facts.format;
  write(json_text({{"event", "start"},
                   {"version", version},
                   {"input", facts.input},
                   {"output", facts.output},
                   {"width", format.width},
                   {"height", format.height},
                   {"layout", name_of(format.layout)},
                   {"bits", format.bits},
                   {"frames_expected", count_or_null(facts.frames)},
                   {"devices", facts.devices},
                   {"noise", noise}}) +
        "\n");
}

void Progress::on_new_scene(const SceneLevels& scene) {
  const std::lock_guard lock(mutex_);
  if (!scenes_.empty() && scene.from_s <= scenes_.back().from_s) scenes_.pop_back();
  scenes_.push_back(scene);
}

std::string Progress::line(const pipeline::PipelineStats& stats) const {
  using pipeline::Stage;
  std::string text = format("frame %lld", static_cast<long long>(stats.frames));
  // The frame count of a container may be too low. If the input has more frames than expected, the
  // line omits the expected number.
  if (facts_.frames >= stats.frames) {
    text += format("/%lld (%d%%)", static_cast<long long>(facts_.frames),
                   static_cast<int>(100 * stats.frames / std::max<std::int64_t>(facts_.frames, 1)));
    text += format("  %.2f fps", stats.fps());
    if (stats.fps() > 0)
      text += "  ETA " +
              format_duration(static_cast<double>(facts_.frames - stats.frames) / stats.fps());
  } else {
    text += format("  %.2f fps", stats.fps());
  }
  return text + format("  busy: decode %d%% denoise %d%% encode %d%%",
                       percent(stats.busy_share(Stage::decode)),
                       percent(stats.busy_share(Stage::denoise)),
                       percent(stats.busy_share(Stage::encode)));
}

std::string Progress::object(const pipeline::PipelineStats& stats) const {
  const bool known = facts_.frames >= stats.frames && stats.fps() > 0;
  Json busy, load;
  const double time = stats.seconds - shown_stats_.seconds;
  for (const auto stage :
       {pipeline::Stage::decode, pipeline::Stage::denoise, pipeline::Stage::encode}) {
    const int i = static_cast<int>(stage);
    busy[pipeline::stage_name(stage)] = rounded(stats.busy_share(stage));
    load[pipeline::stage_name(stage)] =
        rounded(time > 0 ? std::max(stats.busy[i] - shown_stats_.busy[i], 0.0) / time : 0);
  }
  const bool noise = scene_ < scenes_.size();
  const auto left = static_cast<double>(facts_.frames - stats.frames);
  return json_text({{"event", "progress"},
                    {"frames", stats.frames},
                    {"frames_expected", known ? Json(facts_.frames) : Json()},
                    {"seconds", rounded(stats.seconds)},
                    {"fps", rounded(stats.fps())},
                    {"eta_seconds", known ? rounded(left / stats.fps()) : Json()},
                    {"busy", busy},
                    {"load", load},
                    {"scene", scene_},
                    {"sigma", noise ? numbers(scenes_[scene_].sigma) : Json::array()}}) +
         "\n";
}

std::size_t Progress::scene_at(double time_s) const {
  std::size_t scene = 0;
  while (scene + 1 < scenes_.size() && time_s >= scenes_[scene + 1].from_s) ++scene;
  return scene;
}

void Progress::update(const pipeline::PipelineStats& stats, double time_s) {
  const std::lock_guard lock(mutex_);
  last_stats_ = stats;
  scene_ = scene_at(time_s);
  if (metrics_)
    metrics_->update(stats, scene_,
                     scene_ < scenes_.size() ? scenes_[scene_].sigma : std::vector<double>{});
  if (mode_ == ProgressMode::none) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < last_ + interval(mode_)) return;
  last_ = now;
  show(stats);
}

void Progress::show(const pipeline::PipelineStats& stats) {
  if (mode_ == ProgressMode::bar) {
    const std::string live = progress_line(stats, facts_.frames, columns_of(descriptor_));
    write("\r" + live + (terminal_ ? "\033[K" : ""));  // ESC [ K clears the rest of the line
    shown_ = true;
  } else {
    write(mode_ == ProgressMode::json ? object(stats) : "lull: " + line(stats) + "\n");
    shown_stats_ = stats;
  }
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  clear_locked();
}

void Progress::clear_locked() {
  if (shown_) write(terminal_ ? "\r\033[K" : "\n");
  shown_ = false;
}

void Progress::done(const pipeline::PipelineStats& stats, std::int64_t damaged_frames) {
  const std::lock_guard lock(mutex_);
  last_stats_ = stats;
  end({"done", 0, {}, damaged_frames});
}

void Progress::failed(int exit_code, const std::string& text, std::int64_t damaged_frames) {
  const std::lock_guard lock(mutex_);
  end({"failed", exit_code, text, damaged_frames});
}

void Progress::stopped(int signal) {
  const std::lock_guard lock(mutex_);
  end({"stopped", 128 + signal, "stopped by signal " + std::to_string(signal), 0});
}

void Progress::end(const End& end) {
  clear_locked();
  if (ended_) return;
  ended_ = true;
  if (metrics_) metrics_->end(last_stats_, end.exit_code, end.damaged);
  if (mode_ != ProgressMode::json) return;
  write(json_text({{"event", "end"},
                   {"status", end.status},
                   {"exit_code", end.exit_code},
                   {"frames", last_stats_.frames},
                   {"damaged_frames", end.damaged},
                   {"seconds", rounded(last_stats_.seconds)},
                   {"fps", rounded(last_stats_.fps())},
                   {"message", end.text.empty() ? Json() : Json(end.text)}}) +
            "\n",
        Patience::second);
}

// Writes the text if the descriptor can accept it now or, with Patience::second, within a second. A
// pipe that is ready accepts 4096 bytes (PIPE_BUF) at once, but a longer text may block.
void Progress::write(const std::string& text, Patience patience) {
  pollfd target{descriptor_, POLLOUT, 0};
  const int ready = poll(&target, 1, patience == Patience::second ? 1000 : 0);
  if (ready <= 0 || !(target.revents & POLLOUT)) return;
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t written = ::write(descriptor_, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;  // the reader has closed the pipe; the run continues
    at += static_cast<std::size_t>(written);
  }
}

std::string summary(const pipeline::PipelineStats& stats, const std::string& output) {
  const pipeline::Stage busiest = stats.busiest();
  std::string text =
      output + format(": %lld %s in %.2f s, %.2f fps; busiest stage: %s (%d%%)",
                      static_cast<long long>(stats.frames), stats.frames == 1 ? "frame" : "frames",
                      stats.seconds, stats.fps(), pipeline::stage_name(busiest),
                      percent(stats.busy_share(busiest)));
  for (const auto stage :
       {pipeline::Stage::decode, pipeline::Stage::denoise, pipeline::Stage::encode})
    if (stage != busiest)
      text += format(", %s (%d%%)", pipeline::stage_name(stage), percent(stats.busy_share(stage)));
  return text;
}

}  // namespace lull::tools
