#pragma once
// Messages of a run, to stderr and optionally to a file.

#include <mutex>
#include <string>

namespace lull::tools {

enum class LogLevel { error, warning, info, debug };  // each level includes the preceding ones

struct LogOptions {
  LogLevel level = LogLevel::info;
  std::string file;  // messages are appended to this file; empty: none
};

/// Writes messages from any thread. At most one Log with the level debug may exist, because FFmpeg
/// writes its messages to this Log.
class Log {
 public:
  /// @param quiet  if true, only errors go to stderr; the file still receives all messages
  /// @throws CannotCreate  lull cannot open the file
  Log(const LogOptions& options, bool quiet);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Writes a message of one line, unless the message is empty.
  void write(LogLevel level, const std::string& text);
  /// Writes an error only to the file, because main() prints the error on stderr.
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
