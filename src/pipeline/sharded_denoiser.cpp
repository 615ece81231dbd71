#include "pipeline/sharded_denoiser.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "core/error.h"
#include "pipeline/thread_name.h"

namespace lull::pipeline {
namespace {

// Frames in flight for each session, beyond its latency: one in its hands, one that waits for it,
// and two finished ahead of a slower session's.
constexpr int room_per_session = 4;
constexpr int anyone = -1;

class ShardedDenoiser final : public Denoiser {
 public:
  explicit ShardedDenoiser(std::vector<std::unique_ptr<Denoiser>> sessions) {
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
    } else if (in_flight() >= latency_) {
      // Everybody else may be done while one session sits on the next result until it is given
      // another frame: then that session gets this one.
      progress_.wait(lock,
                     [&] { return failure_ || done_.contains(next_out_) || starved_owner(); });
      if (!done_.contains(next_out_))
        taker = owner_.contains(next_out_) ? owner_[next_out_] : anyone;
    }
    rethrow();
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
    std::unique_ptr<Denoiser> session;
    bool idle = false;
    std::jthread thread;  // last: joined before the session goes
  };

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
      std::deque<std::int64_t> held;  // numbers of the frames inside the session, in order
      while (std::optional<Item> item = next_item(me)) {
        held.push_back(item->number);
        give_back(held, workers_[me].session->push(std::move(item->frame)));
      }
      if (is_stopping()) return;
      while (std::optional<Frame> frame = workers_[me].session->drain())
        give_back(held, std::move(frame));
      if (!held.empty())
        throw InternalError("a session kept " + std::to_string(held.size()) + " frames");
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

  // Waits for a frame for worker `me`; nullopt: there will be none.
  std::optional<Item> next_item(int me) {
    std::unique_lock lock(mutex_);
    Worker& worker = workers_[me];
    worker.idle = true;
    progress_.notify_all();
    work_changed_.wait(lock,
                       [&] { return stopping_ || closing_ || find_item(me) != waiting_.end(); });
    worker.idle = false;
    const auto found = find_item(me);
    if (stopping_ || found == waiting_.end()) return std::nullopt;
    const auto place = waiting_.begin() + (found - waiting_.cbegin());
    Item item = std::move(*place);
    waiting_.erase(place);
    owner_[item.number] = me;
    return item;
  }

  void give_back(std::deque<std::int64_t>& held, std::optional<Frame> frame) {
    if (!frame) return;
    if (held.empty()) throw InternalError("a session gave back more frames than went in");
    {
      const std::lock_guard lock(mutex_);
      owner_.erase(held.front());
      done_.emplace(held.front(), std::move(*frame));
    }
    held.pop_front();
    progress_.notify_all();
  }

  bool is_stopping() {
    const std::lock_guard lock(mutex_);
    return stopping_;
  }

  int latency_ = 0;
  std::vector<int> first_;  // takers of the first frames

  std::mutex mutex_;                      // over everything below
  std::condition_variable work_changed_;  // workers wait for it
  std::condition_variable progress_;      // push() and drain() wait for it
  std::deque<Item> waiting_;              // for a worker
  std::map<std::int64_t, int> owner_;     // worker that holds a frame
  std::map<std::int64_t, Frame> done_;    // results that were not given back yet
  std::int64_t next_in_ = 0, next_out_ = 0;
  bool closing_ = false, stopping_ = false;
  std::exception_ptr failure_;

  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<Denoiser> shard(std::vector<std::unique_ptr<Denoiser>> sessions) {
  return std::make_unique<ShardedDenoiser>(std::move(sessions));
}

}  // namespace lull::pipeline
