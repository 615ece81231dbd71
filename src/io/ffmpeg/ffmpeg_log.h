#pragma once
// Stores FFmpeg's log messages for error texts, instead of writing them to stderr.

#include <functional>
#include <memory>
#include <string>

namespace lull::io {

/// Redirects FFmpeg's log from stderr to this module for the whole process. Further calls have no
/// effect.
void capture_ffmpeg_log();

/// Passes every message of FFmpeg's libraries to `listener` as one line. An empty `listener` ends
/// the forwarding. FFmpeg's threads call `listener`.
void forward_ffmpeg_log(std::function<void(const std::string&)> listener);

class Messages;

/// FFmpeg's messages about one file.
class LogTopic {
 public:
  LogTopic();
  ~LogTopic();
  LogTopic(const LogTopic&) = delete;
  LogTopic& operator=(const LogTopic&) = delete;

  /// While a Scope exists, the messages that FFmpeg logs in the thread of the Scope belong to the
  /// file of `topic`. Scopes can be nested.
  class Scope {
   public:
    explicit Scope(const LogTopic& topic);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const std::shared_ptr<Messages>* before_;
  };

  /// A function that receives the warnings and errors of decoders from any thread of FFmpeg.
  /// `context` is the AVCodecContext that logged the message. Each thread of a decoder has its own
  /// AVCodecContext.
  using Listener = std::function<void(const void* context, bool is_error, const std::string& text)>;

  /// While a Mark exists, the messages of a decoder belong to the file of `topic` if
  /// AVCodecContext::opaque of the decoder equals `mark`. FFmpeg copies `opaque` to the contexts of
  /// all threads of a decoder. The caller must close the decoders before it destroys the Mark.
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

/// The messages about one file, or from one thread, that FFmpeg has logged since the creation of
/// the LogWatch. lull uses the messages in error texts. lull also detects damage that FFmpeg
/// reports only in its log.
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
  /// Makes `find()` ignore the message that `find(phrase)` returns now, and all earlier messages.
  void skip(const char* phrase);

 private:
  std::shared_ptr<Messages> messages_;
  long first_;  // number of the first message that belongs to this object
};

/// Returns `text` with FFmpeg's most recent error in parentheses. If there was no error, the result
/// is `text`.
std::string with_log(const std::string& text, const LogWatch& watch);

}  // namespace lull::io
