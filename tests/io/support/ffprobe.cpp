#include "io/support/ffprobe.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace lull::io::test {
namespace {

struct Close {
  void operator()(std::FILE* pipe) const noexcept { pclose(pipe); }
};

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, Close> pipe(popen(command.c_str(), "r"));
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;)
    text.append(buffer.data(), n);
  return text;
}

}  // namespace

const std::string& missing_ffprobe() {
  static const std::string reason =
      output_of("ffprobe -version 2>/dev/null").empty() ? "no ffprobe to ask" : "";
  return reason;
}

Report::Report(const std::string& path, int packets) : path_(path) {
  const std::string text = output_of(
      "ffprobe -v error -show_format -show_streams -show_chapters -show_frames "
      "-read_intervals '%+#" +
      std::to_string(packets) + "' -of flat 'file:" + path + "' 2>&1");
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    const std::size_t equals = line.find('=');
    if (equals == line.npos) continue;
    std::string name = line.substr(0, equals), value = line.substr(equals + 1);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    entries_.emplace_back(std::move(name), std::move(value));
  }
}

bool Report::says(const std::string& name, const std::string& value) const {
  return std::ranges::any_of(
      entries_, [&](const auto& e) { return e.first.ends_with(name) && e.second == value; });
}

bool Report::mentions(const std::string& name) const {
  return std::ranges::any_of(entries_, [&](const auto& e) { return e.first.ends_with(name); });
}

std::string Report::value(const std::string& name) const {
  for (const auto& [key, value] : entries_)
    if (key.ends_with(name)) return value;
  return {};
}

bool Report::traces(const std::string& element, int value) const {
  const std::string text =
      output_of("ffmpeg -nostdin -v info -i 'file:" + path_ +
                "' -map 0:v:0 -c copy -bsf:v trace_headers -frames:v 2 -f null - 2>&1");
  for (std::size_t at = 0; (at = text.find(' ' + element + ' ', at)) != text.npos; ++at) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    if (line.ends_with(" = " + std::to_string(value))) return true;
  }
  return false;
}

}  // namespace lull::io::test
