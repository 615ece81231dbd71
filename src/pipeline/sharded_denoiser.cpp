#include "pipeline/sharded_denoiser.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "pipeline/thread_name.h"

namespace lull::pipeline {
namespace {

// Frames in flight for each session, beyond its latency: one in its hands, one that waits for it,
// and two finished ahead of a slower session's.
constexpr int room_per_session = 4;
constexpr int anyone = -1;

class ShardedDenoiser final : public Denoiser {
 public:
  ShardedDenoiser(std::vector<std::unique_ptr<Denoiser>> sessions, ShardOptions options)
      : options_(std::move(options)) {
    if (sessions.empty())
      throw InvalidArgument("no session to deal frames to (the list is empty); open one");
    workers_.resize(sessions.size());
    for (std::size_t i = 0; i < sessions.size(); ++i) workers_[i].session = std::move(sessions[i]);
    deal_first_frames();
    latency_ = static_cast<int>(first_.size() + room_per_session * workers_.size());
    try {
      for (std::size_t i = 0; i < workers_.size(); ++i)
        workers_[i].thread = std::jthread([this, i] { work(static_cast<int>(i)); });
    } catch (...) {  // no thread to be had: those that run must not wait for ever
      stop_workers();
      throw;
    }
  }

  ~ShardedDenoiser() override { stop_workers(); }

  int latency() const noexcept override { return latency_; }

  std::optional<Frame> push(Frame noisy) override {
    std::unique_lock lock(mutex_);
    if (closing_)
      throw InternalError("a frame came after the last (push() was called after drain())");
    int taker = anyone;
    if (next_in_ < static_cast<std::int64_t>(first_.size())) {
      taker = first_[next_in_];
      if (workers_[taker].lost) taker = anyone;
    } else if (in_flight() >= latency_) {
      // Everybody else may be done while one session sits on the next result until it is given
      // another frame: then that session gets this one.
      progress_.wait(lock,
                     [&] { return failure_ || done_.contains(next_out_) || starved_owner(); });
      if (!done_.contains(next_out_))
        taker = owner_.contains(next_out_) ? owner_[next_out_] : anyone;
    }
    rethrow();
    on_device_ |= noisy.on_device != nullptr;
    waiting_.push_back({next_in_++, taker, std::move(noisy)});
    work_changed_.notify_all();
    progress_.wait(lock, [&] {
      return failure_ || done_.contains(next_out_) || in_flight() <= latency_ || starved_owner();
    });
    rethrow();
    return take_next();
  }

  std::optional<Frame> drain() override {
    std::unique_lock lock(mutex_);
    closing_ = true;
    work_changed_.notify_all();
    progress_.wait(lock, [&] { return failure_ || done_.contains(next_out_) || in_flight() == 0; });
    rethrow();
    return take_next();
  }

 private:
  struct Item {
    std::int64_t number;  // in the order of push()
    int taker;            // worker that has to take it, or anyone
    Frame frame;
  };
  struct Worker {
    std::unique_ptr<Denoiser> session;  // its thread's own
    std::deque<Item> held;              // inside the session, in the order in which they went in
    bool idle = false, lost = false;
    std::jthread thread;  // last: joined before the session goes
  };
  struct Loss {
    std::size_t index;
    DeviceFailure why;
    std::size_t left;
  };
  enum class Task { filter, drain, stop };

  // The first frames fill each session up to its latency, so that from then on every further frame
  // brings one out.
  void deal_first_frames() {
    for (bool dealt = true; dealt;) {
      dealt = false;
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        const auto has = std::count(first_.begin(), first_.end(), static_cast<int>(i));
        if (has >= workers_[i].session->latency()) continue;
        first_.push_back(static_cast<int>(i));
        dealt = true;
      }
    }
  }

  void stop_workers() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_changed_.notify_all();
    workers_.clear();  // joins
  }

  std::int64_t in_flight() const { return next_in_ - next_out_; }

  // The session that holds the next result waits, and no waiting frame is for it.
  bool starved_owner() const {
    const auto owner = owner_.find(next_out_);
    return owner != owner_.end() && workers_[owner->second].idle &&
           find_item(owner->second) == waiting_.end();
  }

  std::deque<Item>::const_iterator find_item(int worker) const {
    return std::find_if(waiting_.begin(), waiting_.end(), [&](const Item& item) {
      return item.taker == anyone || item.taker == worker;
    });
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  std::optional<Frame> take_next() {
    const auto next = done_.find(next_out_);
    if (next == done_.end()) return std::nullopt;
    Frame frame = std::move(next->second);
    done_.erase(next);
    ++next_out_;
    return frame;
  }

  void work(int me) noexcept {
    name_this_thread("lull-device-" + std::to_string(me));
    try {
      while (!serve(me)) continue;
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        fail(std::current_exception());
      }
      work_changed_.notify_all();
      progress_.notify_all();
    }
  }

  void fail(std::exception_ptr failure) {
    if (!failure_) failure_ = std::move(failure);
    stopping_ = true;
  }

  // Until there is nothing more to do for the session (true), or another one has taken its place.
  bool serve(int me) {
    try {
      use_session(me);
      return true;
    } catch (const DeviceFailure& why) {
      return !replace_after(why, me);
    }
  }

  void use_session(int me) {
    Denoiser& session = *workers_[me].session;
    for (;;) {
      Frame frame;
      switch (next_task(me, frame)) {
        case Task::filter:
          give_back(me, session.push(std::move(frame)));
          break;
        case Task::drain:
          while (std::optional<Frame> ready = session.drain()) give_back(me, std::move(ready));
          check_drained(me);
          break;
        case Task::stop:
          return;
      }
    }
  }

  // Waits for something to do. A frame stays in `held` until its result is there, so that another
  // session can take it; `frame` shares its samples.
  Task next_task(int me, Frame& frame) {
    std::unique_lock lock(mutex_);
    Worker& worker = workers_[me];
    worker.idle = true;
    progress_.notify_all();
    work_changed_.wait(lock, [&] {
      return stopping_ || find_item(me) != waiting_.end() || (closing_ && !worker.held.empty());
    });
    worker.idle = false;
    if (stopping_) return Task::stop;
    const auto found = find_item(me);
    if (found == waiting_.end()) return Task::drain;
    const auto place = waiting_.begin() + (found - waiting_.cbegin());
    frame = place->frame;
    owner_[place->number] = me;
    worker.held.push_back(std::move(*place));
    waiting_.erase(place);
    return Task::filter;
  }

  void give_back(int me, std::optional<Frame> ready) {
    if (!ready) return;
    tell_losses();
    Frame noisy;  // released without the lock
    {
      const std::lock_guard lock(mutex_);
      std::deque<Item>& held = workers_[me].held;
      if (held.empty()) throw InternalError("a session gave back more frames than went in");
      noisy = std::move(held.front().frame);
      owner_.erase(held.front().number);
      done_.emplace(held.front().number, *std::move(ready));
      held.pop_front();
    }
    progress_.notify_all();
  }

  void tell_losses() {
    std::vector<Loss> losses;
    {
      const std::lock_guard lock(mutex_);
      losses.swap(losses_);
    }
    for (const Loss& loss : losses)
      if (options_.lost) options_.lost(loss.index, loss.why, loss.left);
  }

  void check_drained(int me) {
    const std::lock_guard lock(mutex_);
    if (const std::size_t kept = workers_[me].held.size(); kept > 0)
      throw InternalError("a session kept " + std::to_string(kept) + " frames");
  }

  // Leaves what worker `me` has to others. Whether a new session has taken the place of its own.
  bool replace_after(const DeviceFailure& why, int me) {
    DeviceFailure first = why;
    bool last = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return false;
      if (!first_loss_) first_loss_ = why;
      first = *first_loss_;
      workers_[me].lost = true;
      const auto left =
          static_cast<std::size_t>(std::ranges::count(workers_, false, &Worker::lost));
      last = left == 0;
      if (on_device_ || (last && !options_.replace)) throw first;
      deal_again(me);
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

  void deal_again(int me) {
    Worker& worker = workers_[me];
    for (const Item& item : worker.held) owner_.erase(item.number);
    std::ranges::move(worker.held, std::back_inserter(waiting_));
    worker.held.clear();
    for (Item& item : waiting_)
      if (workers_[item.taker == anyone ? me : item.taker].lost) item.taker = anyone;
    std::ranges::sort(waiting_, {}, &Item::number);
  }

  const ShardOptions options_;
  int latency_ = 0;
  std::vector<int> first_;  // takers of the first frames

  std::mutex mutex_;                      // over everything below
  std::condition_variable work_changed_;  // workers wait for it
  std::condition_variable progress_;      // push() and drain() wait for it
  std::deque<Item> waiting_;              // for a worker, in order
  std::map<std::int64_t, int> owner_;     // worker that holds a frame
  std::map<std::int64_t, Frame> done_;    // results that were not given back yet
  std::int64_t next_in_ = 0, next_out_ = 0;
  bool closing_ = false, stopping_ = false;
  bool on_device_ = false;    // frames are in the memory of a GPU
  std::vector<Loss> losses_;  // nobody was told of yet
  std::optional<DeviceFailure> first_loss_;
  std::exception_ptr failure_;

  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<Denoiser> shard(std::vector<std::unique_ptr<Denoiser>> sessions,
                                ShardOptions options) {
  return std::make_unique<ShardedDenoiser>(std::move(sessions), std::move(options));
}

}  // namespace lull::pipeline
