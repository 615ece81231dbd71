#pragma once
// FFmpeg's own messages: kept off stderr, remembered for the text of our errors.

#include <functional>
#include <memory>
#include <string>

namespace lull::io {

/// Takes over FFmpeg's log for the whole process (FFmpeg has one). Safe to call often.
void capture_ffmpeg_log();

/// Passes every message of FFmpeg on, one line each, until it is called with an empty function. The
/// listener is called from FFmpeg's threads.
void forward_ffmpeg_log(std::function<void(const std::string&)> listener);

class Messages;

/// What FFmpeg says of one file, apart from what it says of others that the process works on.
class LogTopic {
 public:
  LogTopic();
  ~LogTopic();
  LogTopic(const LogTopic&) = delete;
  LogTopic& operator=(const LogTopic&) = delete;

  /// While it lives, what FFmpeg says in this thread is of this topic. Scopes nest.
  class Scope {
   public:
    explicit Scope(const LogTopic& topic);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const std::shared_ptr<Messages>* before_;
  };

  /// Gets warnings and errors of decoders, from any of FFmpeg's threads. `context` is the decoder's
  /// AVCodecContext, of which each frame thread has one of its own.
  using Listener = std::function<void(const void* context, bool is_error, const std::string& text)>;

  /// Assigns the messages of decoders to a topic while it lives: those whose
  /// AVCodecContext::opaque is `mark`. FFmpeg copies that pointer into the contexts of a decoder's
  /// threads, so the thread that logs does not matter. The decoders must be closed first.
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

/// The messages from its beginning on, for texts and for damage that FFmpeg only mentions: those of
/// a topic, or those that come in the thread that made the watch.
class LogWatch {
 public:
  LogWatch();
  explicit LogWatch(const LogTopic& topic);

  /// The last error in this scope, empty if there was none; one line.
  std::string last_error() const;
  /// The first one: of a chain of errors the cause, where the last is the consequence.
  std::string first_error() const;
  /// The first message of any level in this scope that contains `phrase`, else empty.
  std::string find(const char* phrase) const;
  /// Leaves out what find() would find, and all before it.
  void skip(const char* phrase);

 private:
  std::shared_ptr<Messages> messages_;
  long first_;  // number of the first message in scope
};

/// `text` and, in parentheses, what FFmpeg said of it, if anything.
std::string with_log(const std::string& text, const LogWatch& watch);

}  // namespace lull::io
