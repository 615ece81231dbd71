#include "pipeline/sharded_denoiser.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/repeat_notes.h"
#include "pipeline/results_in_order.h"
#include "pipeline/session_pool.h"

namespace lull::pipeline {
namespace {

// Frames in flight for each session beyond its latency: one in the filter, one in the queue, and
// two results that wait for slower sessions.
constexpr int frames_per_session = 4;
constexpr int any_worker = -1;

class ShardedDenoiser final : public Denoiser {
 public:
  ShardedDenoiser(std::vector<std::unique_ptr<Denoiser>> sessions, ShardOptions options,
                  std::unique_ptr<RepeatFinder> repeats)
      : pool_(std::move(sessions), std::move(options)) {
    if (repeats) notes_.emplace(std::move(repeats));
    states_.resize(pool_.size());
    distribute_first_frames();
    latency_ = static_cast<int>(first_.size() + frames_per_session * states_.size());
    pool_.start({.serve = [this](int me, Denoiser& session) { serve(me, session); },
                 .redistribute = [this](int me) { redistribute(me); }});
  }

  int latency() const noexcept override { return latency_; }

  std::optional<Frame> push(Frame noisy) override {
    // A repeated frame shares the samples of the frame that it repeats, to save memory.
    if (notes_ && !noisy.on_device) notes_->note(noisy);
    auto lock = pool_.lock();
    if (closing_)
      throw InternalError(
          "a frame was pushed after the last one (push() was called after drain())");
    int worker = any_worker;
    if (results_.in() < static_cast<std::int64_t>(first_.size())) {
      worker = first_[results_.in()];
      if (pool_.lost(worker)) worker = any_worker;
    } else if (results_.in_flight() >= latency_) {
      // If the session that computes the next result is idle, this session receives the new frame,
      // because the result may require another frame.
      pool_.wait_for_progress(lock, [&] { return results_.has_next() || owner_is_starved(); });
      if (!results_.has_next())
        worker = owner_.contains(results_.next()) ? owner_[results_.next()] : any_worker;
    }
    if (noisy.on_device) pool_.stay_on_device();
    waiting_.push_back({results_.count_in(), worker, std::move(noisy)});
    pool_.notify_work();
    pool_.wait_for_progress(lock, [&] {
      return results_.has_next() || results_.in_flight() <= latency_ || owner_is_starved();
    });
    return results_.take();
  }

  std::optional<Frame> next() override {
    const auto lock = pool_.lock();
    return results_.take();
  }

  std::optional<Frame> drain() override {
    auto lock = pool_.lock();
    closing_ = true;
    pool_.notify_work();
    pool_.wait_for_progress(lock, [&] { return results_.has_next() || results_.in_flight() == 0; });
    if (results_.in_flight() > 0) return results_.take();
    closing_ = false;
    results_ = {};
    if (notes_) notes_->clear();
    return std::nullopt;
  }

 private:
  struct Item {
    std::int64_t number;  // number of the frame, in the order of push()
    int worker;           // index of the worker that must take the frame, or any_worker
    Frame frame;
  };
  struct SessionState {     // work of a session
    std::deque<Item> held;  // frames in the session, in the order in which they were pushed
    bool idle = false;
  };
  enum class Task { filter, drain, stop };

  // Distributes the first frames: each session receives as many frames as its latency. Each further
  // frame then produces a result.
  void distribute_first_frames() {
    for (bool dealt = true; dealt;) {
      dealt = false;
      for (int i = 0; i < pool_.size(); ++i) {
        if (std::ranges::count(first_, i) >= pool_.session(i).latency()) continue;
        first_.push_back(i);
        dealt = true;
      }
    }
  }

  // Returns whether the session that computes the next result is idle and has no queued frame.
  bool owner_is_starved() const {
    const auto owner = owner_.find(results_.next());
    return owner != owner_.end() && states_[owner->second].idle &&
           find_item(owner->second) == waiting_.end();
  }

  std::deque<Item>::const_iterator find_item(int worker) const {
    return std::find_if(waiting_.begin(), waiting_.end(), [&](const Item& item) {
      return item.worker == any_worker || item.worker == worker;
    });
  }

  void serve(int me, Denoiser& session) {
    for (;;) {
      Frame frame;
      switch (next_task(me, frame)) {
        case Task::filter:
          for (auto ready = session.push(std::move(frame)); ready; ready = session.next())
            deliver(me, *std::move(ready));
          break;
        case Task::drain:
          while (std::optional<Frame> ready = session.drain()) deliver(me, *std::move(ready));
          check_drained(me);
          break;
        case Task::stop:
          return;
      }
    }
  }

  // Waits for a task of session `me`. If the task is to filter a frame, `frame` receives the frame.
  // SessionState::held also stores the frame, for a retry after a failure.
  Task next_task(int me, Frame& frame) {
    auto lock = pool_.lock();
    SessionState& state = states_[me];
    state.idle = true;
    pool_.notify_progress();
    const bool has_work = pool_.wait_for_work(
        lock, [&] { return find_item(me) != waiting_.end() || (closing_ && !state.held.empty()); });
    state.idle = false;
    if (!has_work) return Task::stop;
    const auto found = find_item(me);
    if (found == waiting_.end()) return Task::drain;
    const auto place = waiting_.begin() + (found - waiting_.cbegin());
    frame = place->frame;
    place->frame.on_device.reset();  // no other session will take the frame: see stay_on_device()
    owner_[place->number] = me;
    state.held.push_back(std::move(*place));
    waiting_.erase(place);
    return Task::filter;
  }

  void deliver(int me, Frame ready) {
    pool_.report_failures();
    Frame noisy;  // released without the lock
    {
      const auto lock = pool_.lock();
      std::deque<Item>& held = states_[me].held;
      if (held.empty()) throw InternalError("a session returned more frames than were pushed");
      noisy = std::move(held.front().frame);
      owner_.erase(held.front().number);
      results_.add(held.front().number, std::move(ready));
      held.pop_front();
    }
    pool_.notify_progress();
  }

  void check_drained(int me) {
    const auto lock = pool_.lock();
    if (const std::size_t kept = states_[me].held.size(); kept > 0)
      throw InternalError("a session did not return " + std::to_string(kept) + " frames");
  }

  void redistribute(int me) {
    std::deque<Item>& held = states_[me].held;
    for (const Item& item : held) owner_.erase(item.number);
    std::ranges::move(held, std::back_inserter(waiting_));
    held.clear();
    for (Item& item : waiting_)
      if (pool_.lost(item.worker == any_worker ? me : item.worker)) item.worker = any_worker;
    std::ranges::sort(waiting_, {}, &Item::number);
  }

  std::optional<RepeatNotes> notes_;
  int latency_ = 0;
  std::vector<int> first_;  // for each of the first frames: the worker that takes it
  // The lock of the pool protects all members from `states_` to `closing_`.
  std::vector<SessionState> states_;
  std::deque<Item> waiting_;           // frames that wait for a session, in order
  std::map<std::int64_t, int> owner_;  // for each frame number: the session that has the frame
  ResultsInOrder results_;
  bool closing_ = false;
  SessionPool pool_;  // the last member, because its threads use the other members
};

}  // namespace

std::unique_ptr<Denoiser> shard(std::vector<std::unique_ptr<Denoiser>> sessions,
                                ShardOptions options, std::unique_ptr<RepeatFinder> repeats) {
  return std::make_unique<ShardedDenoiser>(std::move(sessions), std::move(options),
                                           std::move(repeats));
}

}  // namespace lull::pipeline
