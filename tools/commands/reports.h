#pragma once
// What a run of lull denoise says, and what it leaves behind when it is stopped.

#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <system_error>

#include "tools/options/denoise_options.h"
#include "tools/report/log.h"
#include "tools/report/progress.h"

namespace lull::tools {

/// What tells the user of one run.
struct Reports {
  Log log;
  Progress progress;
  std::mutex mutex{};
  std::set<std::string> warned{};

  void info(const std::string& text) { log.write(LogLevel::info, text); }
  void warn(const std::string& text) { log.write(LogLevel::warning, text); }
  /// What several sessions, at a time or one after the other, say alike. From any thread.
  void warn_once(const std::string& text) {
    {
      const std::lock_guard lock(mutex);
      if (!warned.insert(text).second) return;
    }
    warn(text);
  }
  void debug(const std::string& text) { log.write(LogLevel::debug, text); }
  void stopped(const DenoiseOptions& options, int signal) {
    const bool pipe = options.output == "-";
    progress.stopped(signal);
    log.write(LogLevel::error, "stopped by signal " + std::to_string(signal) + "; " +
                                   (pipe ? "standard output" : options.output) + " was not " +
                                   (pipe ? "written to its end" : "written") +
                                   (options.segment_frames > 0 && options.job.folder.empty()
                                        ? "; go on with --resume"
                                        : ""));
  }
};

/// The temporary file, for the thread that ends the process when a stop takes too long.
class UnfinishedOutput {
 public:
  void set_path(const std::string& path) {
    const std::lock_guard lock(mutex_);
    path_ = path;
  }
  void remove() {
    const std::lock_guard lock(mutex_);
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }

 private:
  std::mutex mutex_;
  std::string path_;
};

}  // namespace lull::tools
