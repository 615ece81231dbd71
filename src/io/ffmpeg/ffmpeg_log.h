#pragma once
// Stores FFmpeg's log messages for error texts, instead of writing them to stderr.

#include <functional>
#include <memory>
#include <string>

namespace lull::io {

/// Redirects FFmpeg's log from stderr to this module. The whole process has only one such log. May
/// be called repeatedly.
void capture_ffmpeg_log();

/// Passes every message of FFmpeg to `listener`, as one line. An empty function stops this.
/// FFmpeg's threads call the listener.
void forward_ffmpeg_log(std::function<void(const std::string&)> listener);

class Messages;

/// FFmpeg's messages about one file, separate from those about other files of the process.
class LogTopic {
 public:
  LogTopic();
  ~LogTopic();
  LogTopic(const LogTopic&) = delete;
  LogTopic& operator=(const LogTopic&) = delete;

  /// While a scope exists, FFmpeg's messages in this thread are stored as messages about the file
  /// of the scope's LogTopic. Scopes can be nested.
  class Scope {
   public:
    explicit Scope(const LogTopic& topic);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const std::shared_ptr<Messages>* before_;
  };

  /// Receives warnings and errors of decoders, from any of FFmpeg's threads. `context` is the
  /// decoder's AVCodecContext; each frame thread has its own.
  using Listener = std::function<void(const void* context, bool is_error, const std::string& text)>;

  /// While a Mark exists, the messages of decoders whose AVCodecContext::opaque equals `mark` are
  /// stored as messages about the file of `topic`. FFmpeg copies that pointer to the contexts of a
  /// decoder's threads, so this includes the messages of all threads. The decoders must be closed
  /// before the Mark is destroyed.
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

/// The messages since the creation of this object: either those about one file, or those of the
/// thread that created this object. lull uses these messages in error texts, and to detect damage
/// that FFmpeg only logs.
class LogWatch {
 public:
  LogWatch();
  explicit LogWatch(const LogTopic& topic);

  /// Returns the most recent error as one line; empty if there was none.
  std::string last_error() const;
  /// Returns the first error. If one error causes further errors, the first error is the cause.
  std::string first_error() const;
  /// Returns the first message of any level that contains `phrase`; empty if there is none.
  std::string find(const char* phrase) const;
  /// Makes find() ignore the message that it would return now, and all earlier messages.
  void skip(const char* phrase);

 private:
  std::shared_ptr<Messages> messages_;
  long first_;  // number of the first message that belongs to this object
};

/// Returns `text` with FFmpeg's most recent error in parentheses, if there was one.
std::string with_log(const std::string& text, const LogWatch& watch);

}  // namespace lull::io
