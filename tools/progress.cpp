#include "tools/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace lull::tools {
namespace {

using namespace std::chrono_literals;
constexpr auto live_interval = 100ms, plain_interval = 5000ms;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  const int length = std::snprintf(text, sizeof text, pattern, values...);
  return {text, static_cast<std::size_t>(std::max(0, std::min<int>(length, sizeof text - 1)))};
}

int percent(double share) { return static_cast<int>(std::lround(100 * share)); }

}  // namespace

std::string format_duration(double seconds) {
  const auto total = static_cast<long long>(std::ceil(std::max(0.0, seconds)));
  const long long hours = total / 3600, minutes = total / 60 % 60, rest = total % 60;
  return hours > 0 ? format("%lld:%02lld:%02lld", hours, minutes, rest)
                   : format("%lld:%02lld", minutes, rest);
}

Progress::Progress(std::int64_t frames, bool quiet)
    : frames_(frames),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0),
      last_(std::chrono::steady_clock::now()) {}

std::string Progress::line(const pipeline::PipelineStats& stats) const {
  using pipeline::Stage;
  std::string text = format("frame %lld", static_cast<long long>(stats.frames));
  // The container's count is an estimate: once it is passed, it says nothing.
  if (frames_ >= stats.frames) {
    text += format("/%lld", static_cast<long long>(frames_));
    text += format("  %.2f fps  ETA ", stats.fps());
    text += format_duration(static_cast<double>(frames_ - stats.frames) / stats.fps());
  } else {
    text += format("  %.2f fps", stats.fps());
  }
  return text + format("  busy: decode %d%% denoise %d%% encode %d%%",
                       percent(stats.busy_share(Stage::decode)),
                       percent(stats.busy_share(Stage::denoise)),
                       percent(stats.busy_share(Stage::encode)));
}

void Progress::update(const pipeline::PipelineStats& stats) {
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < (terminal_ ? live_interval : plain_interval)) return;
  last_ = now;
  if (terminal_)
    std::fprintf(stderr, "\r%s\033[K", line(stats).c_str());  // ESC [ K: clear the line's rest
  else
    std::fprintf(stderr, "lull: %s\n", line(stats).c_str());
  std::fflush(stderr);
  shown_ = terminal_;
}

void Progress::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Progress::summary(const pipeline::PipelineStats& stats, const std::string& output) {
  clear();
  if (quiet_) return;
  const pipeline::Stage busiest = stats.busiest();
  std::fprintf(stderr, "lull: %s: %lld %s in %.2f s, %.2f fps; busiest stage: %s (%d%%)\n",
               output.c_str(), static_cast<long long>(stats.frames),
               stats.frames == 1 ? "frame" : "frames", stats.seconds, stats.fps(),
               pipeline::stage_name(busiest), percent(stats.busy_share(busiest)));
}

}  // namespace lull::tools
