#pragma once
// Collects FFmpeg's log messages for lull's error messages, instead of printing them to stderr.

#include <functional>
#include <memory>
#include <string>

namespace lull::io {

/// Redirects FFmpeg's log of the whole process to this module. Further calls have no effect.
void capture_ffmpeg_log();

/// Passes each FFmpeg message to `listener` as one line. FFmpeg's threads call `listener`. An empty
/// `listener` ends the forwarding.
void forward_ffmpeg_log(std::function<void(const std::string&)> listener);

class Messages;

/// FFmpeg's messages about one file.
class LogTopic {
 public:
  LogTopic();
  ~LogTopic();
  LogTopic(const LogTopic&) = delete;
  LogTopic& operator=(const LogTopic&) = delete;

  /// While a Scope exists, LogTopic `topic` receives FFmpeg's messages from the thread that created
  /// the Scope. Scopes can be nested.
  class Scope {
   public:
    explicit Scope(const LogTopic& topic);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const std::shared_ptr<Messages>* before_;
  };

  /// A function that receives the warnings and errors of decoders. Any thread of FFmpeg may call
  /// it. `context` is the AVCodecContext of the decoder thread that logs the message.
  using Listener = std::function<void(const void* context, bool is_error, const std::string& text)>;

  /// While a Mark exists, `topic` receives the messages of decoders whose AVCodecContext::opaque is
  /// `mark`. FFmpeg copies `opaque` to all threads of a decoder. The Mark must outlive the
  /// decoders.
  class Mark {
   public:
    Mark(const LogTopic& topic, const void* mark, Listener listener);
    ~Mark();
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    const void* mark_;
  };

 private:
  friend class LogWatch;
  std::shared_ptr<Messages> messages_;
};

/// FFmpeg's messages about one file (LogTopic) or from one thread, since the creation of the
/// LogWatch. Some damage is visible only in FFmpeg's log.
class LogWatch {
 public:
  LogWatch();
  explicit LogWatch(const LogTopic& topic);

  /// Returns the most recent error as one line; empty if there was none.
  std::string last_error() const;
  /// Returns the first error, which may be the cause of later errors.
  std::string first_error() const;
  /// Returns the first message of any level that contains `phrase`; empty if there is none.
  std::string find(const char* phrase) const;
  /// Makes `find()` ignore the first message that contains `phrase`, and all earlier messages.
  void skip(const char* phrase);

 private:
  std::shared_ptr<Messages> messages_;
  long first_;  // number of the first message that belongs to this object
};

/// Returns `text` with FFmpeg's most recent error, if any, in parentheses.
std::string with_log(const std::string& text, const LogWatch& watch);

}  // namespace lull::io
