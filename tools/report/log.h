#pragma once
// The messages of a run: on stderr, and in a file if one is asked for.

#include <mutex>
#include <string>

namespace lull::tools {

enum class LogLevel { error, warning, info, debug };  // each includes those before it

struct LogOptions {
  LogLevel level = LogLevel::info;
  std::string file;  // appended to; empty: none
};

/// Takes messages from any thread. At the level debug FFmpeg's messages come here too; there may be
/// one such Log at a time.
class Log {
 public:
  /// `quiet`: only errors go to stderr, whatever the level; the file gets all.
  /// @throws CannotCreate  the file cannot be opened
  Log(const LogOptions& options, bool quiet);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// One line each; an empty text is none.
  void write(LogLevel level, const std::string& text);
  /// For the file alone: an error that main() prints.
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
