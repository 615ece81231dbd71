#include "io/ffmpeg/ffmpeg_log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "io/ffmpeg/ffmpeg.h"
#include "io/ffmpeg/log_trace.h"

namespace lull::io {

/// A list of FFmpeg's warnings and errors about one file (LogTopic), or from one thread. Decoder
/// threads may call add() concurrently.
class Messages {
 public:
  void add(int level, const std::string& text) {
    constexpr std::size_t max_kept = 64;  // a damaged file can produce thousands of messages
    const std::lock_guard lock(mutex_);
    kept_.push_back({next_++, level, text});
    if (kept_.size() > max_kept) kept_.pop_front();
  }

  long next() const {
    const std::lock_guard lock(mutex_);
    return next_;
  }

  struct Message {
    long number = -1;  // number of the message; -1: there is none
    int level = 0;
    std::string text;
  };
  /// Among the messages whose number is at least `from`, first() returns the first one for which
  /// `wanted` returns true, and last() returns the last one.
  template <class Wanted>
  Message first(long from, Wanted&& wanted) const {
    const std::lock_guard lock(mutex_);
    for (const Message& m : kept_)
      if (m.number >= from && wanted(m)) return m;
    return {};
  }
  template <class Wanted>
  Message last(long from, Wanted&& wanted) const {
    const std::lock_guard lock(mutex_);
    for (auto m = kept_.rbegin(); m != kept_.rend() && m->number >= from; ++m)
      if (wanted(*m)) return *m;
    return {};
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Message> kept_;
  long next_ = 0;
};

namespace {

using MessagesPtr = std::shared_ptr<Messages>;

/// The receivers of FFmpeg's messages about a file: the message list, and an optional listener.
struct Destination {
  MessagesPtr messages;
  LogTopic::Listener listener;
};
using DestinationPtr = std::shared_ptr<const Destination>;

struct Log {
  std::atomic<bool> has_listener = false;
  std::mutex listener_mutex;
  std::function<void(const std::string&)> listener;
  std::mutex topics_mutex;
  std::map<const void*, DestinationPtr> topics;  // key: AVCodecContext::opaque
};

Log& the_log() {
  static Log log;
  return log;
}

thread_local const MessagesPtr* scope = nullptr;          // the innermost scope of this thread
thread_local const LogTrace::Receiver* tracer = nullptr;  // null: no trace in this thread
thread_local Messages* thread_log = nullptr;              // null: this thread has no watch

/// Returns the messages of the calling thread. The messages outlive the thread.
const MessagesPtr& thread_messages() {
  struct Own {
    MessagesPtr messages = std::make_shared<Messages>();
    Own() { thread_log = messages.get(); }
    ~Own() { thread_log = nullptr; }  // FFmpeg may still log messages
  };
  static thread_local Own own;
  return own.messages;
}

/// Returns the codec context to which the log context `context` belongs; null if there is none. If
/// `context` is itself a codec context, the function returns `context`.
const AVCodecContext* codec_of(const void* context) {
  while (context) {
    const AVClass* kind = *static_cast<const AVClass* const*>(context);
    if (kind == avcodec_get_class()) return static_cast<const AVCodecContext*>(context);
    if (!kind || kind->parent_log_context_offset == 0) return nullptr;
    const char* parent = static_cast<const char*>(context) + kind->parent_log_context_offset;
    context = *reinterpret_cast<const void* const*>(parent);
  }
  return nullptr;
}

/// Returns the receivers of the messages of the decoder `codec`; null if there are none. The
/// function finds them by AVCodecContext::opaque, for which LogTopic::Mark has registered them.
DestinationPtr destination_of(const AVCodecContext* codec) {
  const void* mark = codec ? codec->opaque : nullptr;
  if (!mark) return nullptr;
  Log& log = the_log();
  const std::lock_guard lock(log.topics_mutex);
  const auto found = log.topics.find(mark);
  return found == log.topics.end() ? nullptr : found->second;
}

std::string line_of(const char* format, va_list arguments) {
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  std::string text = line;
  while (!text.empty() && (text.back() == '\n' || text.back() == '.' || text.back() == ' '))
    text.pop_back();
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

void record_message(void* context, int level, const char* format, va_list arguments) {
  if (tracer) {
    if (level == AV_LOG_INFO) (*tracer)(line_of(format, arguments));
    return;
  }
  if (level > (the_log().has_listener ? AV_LOG_INFO : AV_LOG_WARNING)) return;
  const std::string text = line_of(format, arguments);
  if (text.empty()) return;
  Log& log = the_log();
  {
    const std::lock_guard lock(log.listener_mutex);
    if (log.listener) log.listener(text);
  }
  if (level > AV_LOG_WARNING) return;
  if (thread_log) thread_log->add(level, text);
  const AVCodecContext* codec = codec_of(context);
  if (const DestinationPtr destination = destination_of(codec)) {
    destination->messages->add(level, text);
    if (destination->listener) destination->listener(codec, level <= AV_LOG_ERROR, text);
  } else if (scope) {
    (*scope)->add(level, text);
  }
}

bool is_error(const Messages::Message& m) { return m.level <= AV_LOG_ERROR; }
auto contains(const char* phrase) {
  return [=](const Messages::Message& m) { return m.text.find(phrase) != std::string::npos; };
}

}  // namespace

void capture_ffmpeg_log() {
  static std::once_flag once;
  std::call_once(once, [] {
    the_log();  // creates the log first, so that it outlives FFmpeg's last message
    av_log_set_callback(record_message);
  });
}

void forward_ffmpeg_log(std::function<void(const std::string&)> listener) {
  capture_ffmpeg_log();
  const std::lock_guard lock(the_log().listener_mutex);
  the_log().has_listener = listener != nullptr;
  the_log().listener = std::move(listener);
}

LogTrace::LogTrace(Receiver receiver) : receiver_(std::move(receiver)) {
  capture_ffmpeg_log();
  tracer = &receiver_;
}
LogTrace::~LogTrace() { tracer = nullptr; }

LogTopic::LogTopic() : messages_(std::make_shared<Messages>()) {}
LogTopic::~LogTopic() = default;

LogTopic::Mark::Mark(const LogTopic& topic, const void* mark, Listener listener) : mark_(mark) {
  const std::lock_guard lock(the_log().topics_mutex);
  the_log().topics[mark] =
      std::make_shared<Destination>(Destination{topic.messages_, std::move(listener)});
}

LogTopic::Mark::~Mark() {
  const std::lock_guard lock(the_log().topics_mutex);
  the_log().topics.erase(mark_);
}

LogTopic::Scope::Scope(const LogTopic& topic) : before_(std::exchange(scope, &topic.messages_)) {}
LogTopic::Scope::~Scope() { scope = before_; }

LogWatch::LogWatch() : messages_(thread_messages()), first_(messages_->next()) {}
LogWatch::LogWatch(const LogTopic& topic) : messages_(topic.messages_), first_(messages_->next()) {}

std::string LogWatch::last_error() const { return messages_->last(first_, is_error).text; }
std::string LogWatch::first_error() const { return messages_->first(first_, is_error).text; }
std::string LogWatch::find(const char* phrase) const {
  return messages_->first(first_, contains(phrase)).text;
}

void LogWatch::skip(const char* phrase) {
  const Messages::Message found = messages_->first(first_, contains(phrase));
  if (found.number >= 0) first_ = found.number + 1;
}

std::string with_log(const std::string& text, const LogWatch& watch) {
  const std::string last = watch.last_error();
  return last.empty() ? text : text + " (" + last + ")";
}

std::string error_text(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return text;
}

}  // namespace lull::io
