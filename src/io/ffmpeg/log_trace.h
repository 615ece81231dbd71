#pragma once
// Passes FFmpeg's informative messages from one thread to a function.

#include <functional>
#include <string>

namespace lull::io {

/// While a LogTrace exists, FFmpeg's informative messages of the creating thread go only to
/// `receiver`. Warnings and errors of this thread are dropped. LogTraces cannot be nested.
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
