#pragma once
// Passes FFmpeg's informative messages from one thread to a function.

#include <functional>
#include <string>

namespace lull::io {

/// While a LogTrace exists, only `receiver` gets FFmpeg's messages from the thread that created the
/// LogTrace. `receiver` gets the messages of level AV_LOG_INFO, and the LogTrace drops all others.
/// A thread can have only one LogTrace at a time.
class LogTrace {
 public:
  using Receiver = std::function<void(const std::string& line)>;
  explicit LogTrace(Receiver receiver);
  ~LogTrace();
  LogTrace(const LogTrace&) = delete;
  LogTrace& operator=(const LogTrace&) = delete;

 private:
  Receiver receiver_;
};

}  // namespace lull::io
