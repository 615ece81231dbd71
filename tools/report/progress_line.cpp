#include "tools/report/progress_line.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace lull::tools {
namespace {

std::string fps_of(const pipeline::PipelineStats& stats) {
  char text[32];
  std::snprintf(text, sizeof text, stats.fps() < 100 ? "%.1f fps" : "%.0f fps", stats.fps());
  return text;
}

std::string busiest_of(const pipeline::PipelineStats& stats) {
  const pipeline::Stage stage = stats.busiest();
  return std::string(pipeline::stage_name(stage)) + " " +
         std::to_string(std::lround(100 * stats.busy_share(stage))) + "% busy";
}

/// Appends the elements of `parts` to `line`, the most important first. Stops before an element
/// that would make `line` longer than `max_length` characters.
void append_fitting(std::string& line, const std::vector<std::string>& parts,
                    std::size_t max_length) {
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (line.size() + 2 + part.size() > max_length) return;
    line += "  " + part;
  }
}

std::string without_length(const pipeline::PipelineStats& stats, std::size_t max_length) {
  std::string line = std::to_string(stats.frames) + (stats.frames == 1 ? " frame" : " frames");
  append_fitting(line, {fps_of(stats), format_duration(stats.seconds), busiest_of(stats)},
                 max_length);
  return line.substr(0, max_length);
}

}  // namespace

std::string format_duration(double seconds) {
  const auto total = static_cast<long long>(std::ceil(std::max(0.0, seconds)));
  const long long hours = total / 3600, minutes = total / 60 % 60, rest = total % 60;
  char text[64];
  if (hours > 0)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", hours, minutes, rest);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", minutes, rest);
  return text;
}

std::string progress_line(const pipeline::PipelineStats& stats, std::int64_t frames, int columns) {
  constexpr std::size_t min_bar = 8,
                        max_bar = 30;  // length of the bar in columns, without the brackets
  const auto max_length = static_cast<std::size_t>(std::max(columns, 2) - 1);
  if (frames <= 0 || stats.frames > frames) return without_length(stats, max_length);
  const double share = static_cast<double>(stats.frames) / static_cast<double>(frames);
  char percent[16];  // 100 is only shown at the end
  std::snprintf(percent, sizeof percent, "%3d%%", static_cast<int>(100 * share));
  std::string rest;
  const std::size_t fixed_length = sizeof "100% []" - 1;
  if (max_length < fixed_length + min_bar) return std::string(percent).substr(0, max_length);
  const double left = static_cast<double>(frames - stats.frames) / std::max(stats.fps(), 1e-9);
  append_fitting(
      rest,
      {std::to_string(stats.frames) + "/" + std::to_string(frames),
       stats.fps() > 0 ? "ETA " + format_duration(left) : "", fps_of(stats), busiest_of(stats)},
      max_length - fixed_length - min_bar);
  const std::size_t bar = std::min(max_length - fixed_length - rest.size(), max_bar);
  const auto full = static_cast<std::size_t>(share * static_cast<double>(bar));
  return std::string(percent) + " [" + std::string(full, '#') + std::string(bar - full, '.') + "]" +
         rest;
}

int columns_of(int descriptor) {
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace lull::tools
