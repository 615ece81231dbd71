#include "c/src/log.h"

#include <mutex>

#include "core/error.h"

namespace lull::c {
namespace {

struct LogTarget {
  std::mutex mutex;
  lull_log_function function = nullptr;
  void* user = nullptr;
};

LogTarget& log_target() {
  static LogTarget target;
  return target;
}

}  // namespace

void set_log(lull_log_function function, void* user) {
  LogTarget& target = log_target();
  const std::lock_guard lock(target.mutex);
  target.function = function;
  target.user = user;
}

void log(std::int32_t level, const std::string& text) {
  LogTarget& target = log_target();
  const std::lock_guard lock(target.mutex);
  if (target.function != nullptr) target.function(level, one_line(text).c_str(), target.user);
}

}  // namespace lull::c
