#include "pipeline/session_pool.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pipeline/thread_name.h"

namespace lull::pipeline {

SessionPool::SessionPool(std::vector<std::unique_ptr<Denoiser>> sessions, ShardOptions options)
    : options_(std::move(options)) {
  if (sessions.empty())
    throw InvalidArgument("no session for the frames (the list is empty); open one");
  workers_.resize(sessions.size());
  for (std::size_t i = 0; i < sessions.size(); ++i) workers_[i].session = std::move(sessions[i]);
}

void SessionPool::start(Callbacks duties) {
  callbacks_ = std::move(duties);
  try {
    for (int i = 0; i < size(); ++i) workers_[i].thread = std::jthread([this, i] { work(i); });
  } catch (...) {  // a thread could not be started: the others must not wait for ever
    stop();
    throw;
  }
}

void SessionPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_changed_.notify_all();
  workers_.clear();  // joins
}

void SessionPool::report_failures() {
  std::vector<SessionFailure> failures;
  {
    const std::lock_guard lock(mutex_);
    failures.swap(failures_);
  }
  for (const SessionFailure& failure : failures)
    if (options_.on_session_lost)
      options_.on_session_lost(failure.index, failure.why, failure.left);
}

void SessionPool::work(int me) noexcept {
  name_this_thread("lull-device-" + std::to_string(me));
  try {
    while (!serve(me)) continue;
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stopping_ = true;
    }
    work_changed_.notify_all();
    progress_.notify_all();
  }
}

// Runs the session of worker `me`. Returns false if a new session has replaced the failed session,
// and true after the end of the work.
bool SessionPool::serve(int me) {
  try {
    callbacks_.serve(me, *workers_[me].session);
    return true;
  } catch (const DeviceFailure& why) {
    return !replace_after(why, me);
  }
}

// Passes the work of the failed worker `me` to the other workers. Returns whether a new session has
// replaced the failed session.
bool SessionPool::replace_after(const DeviceFailure& why, int me) {
  DeviceFailure first = why;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    if (!first_failure_) first_failure_ = why;
    first = *first_failure_;
    workers_[me].lost = true;
    const auto left = static_cast<std::size_t>(std::ranges::count(workers_, false, &Worker::lost));
    last = left == 0;
    if (on_device_ || (last && !options_.replace)) throw first;
    callbacks_.redistribute(me);
    // The pool reports a failure only after another session has returned a result. If all sessions
    // fail before any result, for example because of a common cause, the caller receives only the
    // first failure.
    failures_.push_back({static_cast<std::size_t>(me), why, left});
    if (last) failures_.clear();
  }
  work_changed_.notify_all();
  progress_.notify_all();
  // The worker wakes the other threads before it destroys the session, because the destruction may
  // take long after a device failure.
  workers_[me].session.reset();
  if (!last) return false;
  workers_[me].session = options_.replace(first);
  const std::lock_guard lock(mutex_);
  workers_[me].lost = false;
  return true;
}

}  // namespace lull::pipeline
