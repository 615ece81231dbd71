#pragma once
// Messages of a run, on stderr and optionally in a file.

#include <mutex>
#include <string>

namespace lull::tools {

enum class LogLevel { error, warning, info, debug };  // each level includes the ones before it

struct LogOptions {
  LogLevel level = LogLevel::info;
  std::string file;  // messages are appended to this file; empty: none
};

/// Accepts messages from any thread. At level debug it also receives FFmpeg's messages; only one
/// such Log may exist at a time.
class Log {
 public:
  /// With `quiet`, only errors are written to stderr, whatever the level; the file receives all
  /// messages.
  /// @throws CannotCreate  the file cannot be opened
  Log(const LogOptions& options, bool quiet);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Writes a message of one line; an empty text is ignored.
  void write(LogLevel level, const std::string& text);
  /// Writes an error to the file only, because main() prints it.
  void note_failure(const std::string& text);

 private:
  void append(LogLevel level, const std::string& text);

  LogOptions options_;
  bool quiet_, terminal_;
  std::mutex mutex_;
  int file_ = -1;
  bool file_failed_ = false;
};

}  // namespace lull::tools
