#pragma once
// FFmpeg's own messages: kept off stderr, remembered for the text of our errors.

#include <functional>
#include <string>

namespace lull::io {

/// Takes over FFmpeg's log for the whole process (FFmpeg has one). Safe to call often.
void capture_ffmpeg_log();

/// Passes every message of FFmpeg on, one line each, until it is called with an empty function. The
/// listener is called from FFmpeg's threads.
void forward_ffmpeg_log(std::function<void(const std::string&)> listener);

/// Scope in which FFmpeg's messages are watched. Messages carry no context that would tell two
/// files of one process apart, so a watch sees those of every thread: it is for texts, and for
/// damage that FFmpeg only mentions.
class LogWatch {
 public:
  LogWatch();

  /// The last error in this scope, empty if there was none; one line.
  std::string last_error() const;
  /// The first one: of a chain of errors the cause, where the last is the consequence.
  std::string first_error() const;
  /// The first message of any level in this scope that contains `phrase`, else empty.
  std::string find(const char* phrase) const;
  /// Leaves out what find() would find, and all before it.
  void skip(const char* phrase);

 private:
  long first_ = 0;  // number of the first message in scope
};

/// `text` and, in parentheses, what FFmpeg said of it, if anything.
std::string with_log(const std::string& text, const LogWatch& watch);

}  // namespace lull::io
