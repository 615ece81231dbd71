#include "pipeline/session_crew.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pipeline/thread_name.h"

namespace lull::pipeline {

SessionCrew::SessionCrew(std::vector<std::unique_ptr<Denoiser>> sessions, ShardOptions options)
    : options_(std::move(options)) {
  if (sessions.empty())
    throw InvalidArgument("no session to deal frames to (the list is empty); open one");
  workers_.resize(sessions.size());
  for (std::size_t i = 0; i < sessions.size(); ++i) workers_[i].session = std::move(sessions[i]);
}

void SessionCrew::start(Duties duties) {
  duties_ = std::move(duties);
  try {
    for (int i = 0; i < size(); ++i) workers_[i].thread = std::jthread([this, i] { work(i); });
  } catch (...) {  // no thread to be had: those that run must not wait for ever
    stop();
    throw;
  }
}

void SessionCrew::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_changed_.notify_all();
  workers_.clear();  // joins
}

void SessionCrew::tell_losses() {
  std::vector<Loss> losses;
  {
    const std::lock_guard lock(mutex_);
    losses.swap(losses_);
  }
  for (const Loss& loss : losses)
    if (options_.lost) options_.lost(loss.index, loss.why, loss.left);
}

void SessionCrew::work(int me) noexcept {
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

// Until there is nothing more to do for the session (true), or another one has taken its place.
bool SessionCrew::serve(int me) {
  try {
    duties_.serve(me, *workers_[me].session);
    return true;
  } catch (const DeviceFailure& why) {
    return !replace_after(why, me);
  }
}

// Leaves what worker `me` has to others. Whether a new session has taken the place of its own.
bool SessionCrew::replace_after(const DeviceFailure& why, int me) {
  DeviceFailure first = why;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    if (!first_loss_) first_loss_ = why;
    first = *first_loss_;
    workers_[me].lost = true;
    const auto left = static_cast<std::size_t>(std::ranges::count(workers_, false, &Worker::lost));
    last = left == 0;
    if (on_device_ || (last && !options_.replace)) throw first;
    duties_.deal_again(me);
    // Told once the others have shown that they go on: what broke this one may break all.
    losses_.push_back({static_cast<std::size_t>(me), why, left});
    if (last) losses_.clear();
  }
  work_changed_.notify_all();
  progress_.notify_all();
  workers_[me].session.reset();  // last: who knows how long a broken device takes
  if (!last) return false;
  workers_[me].session = options_.replace(first);
  const std::lock_guard lock(mutex_);
  workers_[me].lost = false;
  return true;
}

}  // namespace lull::pipeline
