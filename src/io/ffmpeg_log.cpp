#include "io/ffmpeg_log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <deque>
#include <mutex>
#include <utility>

#include "io/ffmpeg.h"

namespace lull::io {
namespace {

struct Message {
  long number;
  int level;
  std::string text;
};

constexpr std::size_t kept = 64;  // messages; a damaged file can produce thousands

struct Log {
  std::mutex mutex;
  std::deque<Message> messages;
  long next = 0;
  std::atomic<bool> listened = false;
  std::mutex listener_mutex;
  std::function<void(const std::string&)> listener;
};

Log& the_log() {
  static Log log;
  return log;
}

void remember(void*, int level, const char* format, va_list arguments) {
  if (level > (the_log().listened ? AV_LOG_INFO : AV_LOG_WARNING)) return;
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  std::string text = line;
  while (!text.empty() && (text.back() == '\n' || text.back() == '.' || text.back() == ' '))
    text.pop_back();
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  if (text.empty()) return;
  Log& log = the_log();
  {
    const std::lock_guard lock(log.listener_mutex);
    if (log.listener) log.listener(text);
  }
  if (level > AV_LOG_WARNING) return;
  const std::lock_guard lock(log.mutex);
  log.messages.push_back({log.next++, level, std::move(text)});
  if (log.messages.size() > kept) log.messages.pop_front();
}

}  // namespace

void capture_ffmpeg_log() {
  static std::once_flag once;
  std::call_once(once, [] {
    the_log();  // before the first message, so that it outlives FFmpeg's last
    av_log_set_callback(remember);
  });
}

void forward_ffmpeg_log(std::function<void(const std::string&)> listener) {
  capture_ffmpeg_log();
  const std::lock_guard lock(the_log().listener_mutex);
  the_log().listened = listener != nullptr;
  the_log().listener = std::move(listener);
}

LogWatch::LogWatch() {
  const std::lock_guard lock(the_log().mutex);
  first_ = the_log().next;
}

std::string LogWatch::last_error() const {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  for (auto m = log.messages.rbegin(); m != log.messages.rend() && m->number >= first_; ++m)
    if (m->level <= AV_LOG_ERROR) return m->text;
  return {};
}

std::string LogWatch::first_error() const {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  for (const Message& m : log.messages)
    if (m.number >= first_ && m.level <= AV_LOG_ERROR) return m.text;
  return {};
}

std::string LogWatch::find(const char* phrase) const {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  for (const Message& m : log.messages)
    if (m.number >= first_ && m.text.find(phrase) != std::string::npos) return m.text;
  return {};
}

void LogWatch::skip(const char* phrase) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  for (const Message& m : log.messages)
    if (m.number >= first_ && m.text.find(phrase) != std::string::npos) {
      first_ = m.number + 1;
      return;
    }
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
