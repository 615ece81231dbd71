#pragma once
// Passes the informative messages that FFmpeg logs in one thread to a function.

#include <functional>
#include <string>

namespace lull::io {

/// While this object exists, a function receives the informative messages that FFmpeg logs in the
/// thread that created the object. No other listener receives these messages. Warnings and errors
/// in this thread are dropped. LogTrace objects cannot be nested.
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
