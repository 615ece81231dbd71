#pragma once
// Messages and progress of a run of `lull denoise`. If the user stops the run, `UnfinishedOutput`
// removes the temporary file.

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <system_error>

#include "io/media.h"
#include "tools/options/denoise_options.h"
#include "tools/report/log.h"
#include "tools/report/progress.h"

namespace lull::tools {

/// The objects that print messages and progress.
struct Reports {
  Log log;
  Progress progress;
  std::mutex mutex{};
  std::set<std::string> warned{};

  void info(const std::string& text) { log.write(LogLevel::info, text); }
  void warn(const std::string& text) { log.write(LogLevel::warning, text); }
  /// Writes a warning, unless the object has already written an equal warning. Thread-safe.
  void warn_once(const std::string& text) {
    {
      const std::lock_guard lock(mutex);
      if (!warned.insert(text).second) return;
    }
    warn(text);
  }
  void debug(const std::string& text) { log.write(LogLevel::debug, text); }
  void stopped(const DenoiseOptions& options, int signal) {
    const bool pipe = options.output.file == "-";
    progress.stopped(signal);
    log.write(LogLevel::error, "stopped by signal " + std::to_string(signal) + "; " +
                                   (pipe ? "standard output" : options.output.file) + " was not " +
                                   (pipe ? "completed" : "written") +
                                   (options.run.segment_frames > 0 && options.run.job.folder.empty()
                                        ? "; continue with --resume"
                                        : ""));
  }
};

/// Selects the first frame of a video, for an output that can contain only one picture. Does
/// nothing if --keep already selects a frame.
inline void select_first_frame(DenoiseOptions& options, Reports& reports) {
  if (options.output.keep) return;
  options.output.keep = 0;
  reports.warn("'" + options.output.file + "' is a single picture: only the first frame of '" +
               options.input.file +
               "' is written (--start, --frames and --keep select another one, a name such as "
               "out.%04d.png writes all frames)");
}

/// Warns about data that the output cannot contain (MediaSink::losses()), except the first `from`
/// entries.
inline void report_losses(Reports& reports, const io::MediaSink& sink, std::size_t from) {
  for (std::size_t i = from; i < sink.losses().size(); ++i)
    reports.warn("not in the output: " + sink.losses()[i]);
}

/// The path of the temporary file or folder of a run, for its removal. If the run does not stop in
/// time after a signal, SignalWatch calls remove() in another thread.
class UnfinishedOutput {
 public:
  void set_path(const std::string& path) {
    const std::lock_guard lock(mutex_);
    path_ = path;
  }
  void remove() {
    const std::lock_guard lock(mutex_);
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

 private:
  std::mutex mutex_;
  std::string path_;
};

}  // namespace lull::tools
