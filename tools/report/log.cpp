#include "tools/report/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "core/error.h"
#include "io/ffmpeg/ffmpeg_log.h"

namespace lull::tools {
namespace {

const char* name_of(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return "error";
    case LogLevel::warning:
      return "warning";
    case LogLevel::info:
      return "info";
    case LogLevel::debug:
      return "debug";
  }
  return "";
}

/// Returns the current time in the form "2026-01-31T12:34:56.789Z".
std::string now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  const std::time_t seconds = milliseconds / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char day[32], text[48];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text, sizeof text, "%s.%03dZ", day, static_cast<int>(milliseconds % 1000));
  return text;
}

}  // namespace

Log::Log(const LogOptions& options, bool quiet)
    : options_(options), quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {
  if (!options.file.empty()) {
    file_ = open(options.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0)
      throw CannotCreate("cannot write the log '" + options.file + "' (" + std::strerror(errno) +
                         "); choose another name");
  }
  if (options.level == LogLevel::debug)
    io::forward_ffmpeg_log(
        [this](const std::string& text) { write(LogLevel::debug, "FFmpeg: " + text); });
}

Log::~Log() {
  if (options_.level == LogLevel::debug) io::forward_ffmpeg_log({});
  if (file_ >= 0) close(file_);
}

void Log::write(LogLevel level, const std::string& message) {
  if (message.empty() || level > options_.level) return;
  const std::string text =
      one_line(message);  // the message may contain tags of the input that have line breaks
  const std::lock_guard lock(mutex_);
  append(level, text);
  if (quiet_ && level > LogLevel::error) return;
  const bool named = level == LogLevel::warning || level == LogLevel::debug;
  // On a terminal, the escape sequence ESC [ K clears the live progress line.
  std::fprintf(stderr, "%slull: %s%s%s\n", terminal_ ? "\r\033[K" : "", named ? name_of(level) : "",
               named ? ": " : "", text.c_str());
}

void Log::note_failure(const std::string& text) {
  const std::lock_guard lock(mutex_);
  append(LogLevel::error, text);
}

// If a write to the log file fails, the run continues.
void Log::append(LogLevel level, const std::string& text) {
  if (file_ < 0 || file_failed_) return;
  const std::string line = now() + " " + name_of(level) + " " + text + "\n";
  if (::write(file_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  file_failed_ = true;
  std::fprintf(stderr, "lull: warning: the log '%s' cannot be written to (%s); it ends here\n",
               options_.file.c_str(), std::strerror(errno));
}

}  // namespace lull::tools
