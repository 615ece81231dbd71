#pragma once
// Receives the informative messages that FFmpeg logs in this thread.

#include <functional>
#include <string>

namespace lull::io {

/// While this object exists, FFmpeg's informative messages in the thread that created it are passed
/// to a function, and to no other listener. Warnings and errors in this thread are dropped. Traces
/// cannot be nested.
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
