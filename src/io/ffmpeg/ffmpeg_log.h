#pragma once
// Stores FFmpeg's log messages for error texts, instead of writing them to stderr.

#include <functional>
#include <memory>
#include <string>

namespace lull::io {

/// Redirects FFmpeg's log from stderr to this module. The redirection applies to the whole process.
/// Further calls have no effect.
void capture_ffmpeg_log();

/// Passes every message of FFmpeg's libraries to `listener` as one line. A call with an empty
/// function ends the forwarding. FFmpeg's threads call the listener.
void forward_ffmpeg_log(std::function<void(const std::string&)> listener);

class Messages;

/// FFmpeg's messages about one file. Other files of the process have their own LogTopic objects.
class LogTopic {
 public:
  LogTopic();
  ~LogTopic();
  LogTopic(const LogTopic&) = delete;
  LogTopic& operator=(const LogTopic&) = delete;

  /// While a Scope exists, the messages that FFmpeg logs in this thread count as messages about the
  /// file of the given LogTopic. Scopes can be nested.
  class Scope {
   public:
    explicit Scope(const LogTopic& topic);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const std::shared_ptr<Messages>* before_;
  };

  /// A function that receives the warnings and errors of decoders. FFmpeg calls it from any thread.
  /// `context` is the AVCodecContext that logged the message; each thread of a decoder has its own
  /// AVCodecContext.
  using Listener = std::function<void(const void* context, bool is_error, const std::string& text)>;

  /// While a Mark exists, the messages of decoders whose AVCodecContext::opaque equals `mark` count
  /// as messages about the file of `topic`. FFmpeg copies the pointer `opaque` to the contexts of
  /// all threads of a decoder. The decoders must be closed before the Mark is destroyed.
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

/// Gives access to the messages that FFmpeg has logged since the creation of this object: either
/// the messages about one file, or the messages of the thread that created this object. lull uses
/// the messages in error texts, and to detect damage that FFmpeg only logs.
class LogWatch {
 public:
  LogWatch();
  explicit LogWatch(const LogTopic& topic);

  /// Returns the most recent error as one line. The text is empty if there was no error.
  std::string last_error() const;
  /// Returns the first error. If one error causes further errors, the first error is the cause.
  std::string first_error() const;
  /// Returns the first message of any level that contains `phrase`. The text is empty if there is
  /// no such message.
  std::string find(const char* phrase) const;
  /// Makes find() ignore the message that find(phrase) would return now, and all earlier messages.
  void skip(const char* phrase);

 private:
  std::shared_ptr<Messages> messages_;
  long first_;  // number of the first message that belongs to this object
};

/// Returns `text` with FFmpeg's most recent error in parentheses. Returns `text` unchanged if there
/// was no error.
std::string with_log(const std::string& text, const LogWatch& watch);

}  // namespace lull::io
