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
#include "pipeline/session_crew.h"

namespace lull::pipeline {
namespace {

// Frames in flight for each session, beyond its latency: one in its hands, one that waits for it,
// and two finished ahead of a slower session's.
constexpr int room_per_session = 4;
constexpr int anyone = -1;

class ShardedDenoiser final : public Denoiser {
 public:
  ShardedDenoiser(std::vector<std::unique_ptr<Denoiser>> sessions, ShardOptions options,
                  std::unique_ptr<RepeatFinder> repeats)
      : crew_(std::move(sessions), std::move(options)) {
    if (repeats) notes_.emplace(std::move(repeats));
    hands_.resize(crew_.size());
    deal_first_frames();
    latency_ = static_cast<int>(first_.size() + room_per_session * hands_.size());
    crew_.start({.serve = [this](int me, Denoiser& session) { serve(me, session); },
                 .deal_again = [this](int me) { deal_again(me); }});
  }

  int latency() const noexcept override { return latency_; }

  std::optional<Frame> push(Frame noisy) override {
    // A session may hold many repetitions of a frame: these share its samples.
    if (notes_ && !noisy.on_device) notes_->note(noisy);
    auto lock = crew_.lock();
    if (closing_)
      throw InternalError("a frame came after the last (push() was called after drain())");
    int taker = anyone;
    if (results_.in() < static_cast<std::int64_t>(first_.size())) {
      taker = first_[results_.in()];
      if (crew_.lost(taker)) taker = anyone;
    } else if (results_.in_flight() >= latency_) {
      // Everybody else may be done while one session sits on the next result until it is given
      // another frame: then that session gets this one.
      crew_.wait_for_progress(lock, [&] { return results_.has_next() || starved_owner(); });
      if (!results_.has_next())
        taker = owner_.contains(results_.next()) ? owner_[results_.next()] : anyone;
    }
    if (noisy.on_device) crew_.stay_on_device();
    waiting_.push_back({results_.count_in(), taker, std::move(noisy)});
    crew_.notify_work();
    crew_.wait_for_progress(lock, [&] {
      return results_.has_next() || results_.in_flight() <= latency_ || starved_owner();
    });
    return results_.take();
  }

  std::optional<Frame> next() override {
    const auto lock = crew_.lock();
    return results_.take();
  }

  std::optional<Frame> drain() override {
    auto lock = crew_.lock();
    closing_ = true;
    crew_.notify_work();
    crew_.wait_for_progress(lock, [&] { return results_.has_next() || results_.in_flight() == 0; });
    if (results_.in_flight() > 0) return results_.take();
    closing_ = false;
    results_ = {};
    if (notes_) notes_->clear();
    return std::nullopt;
  }

 private:
  struct Item {
    std::int64_t number;  // in the order of push()
    int taker;            // worker that has to take it, or anyone
    Frame frame;
  };
  struct Hand {             // what a session has
    std::deque<Item> held;  // inside it, in the order in which they went in
    bool idle = false;
  };
  enum class Task { filter, drain, stop };

  // The first frames fill each session up to its latency, so that from then on every further frame
  // brings one out.
  void deal_first_frames() {
    for (bool dealt = true; dealt;) {
      dealt = false;
      for (int i = 0; i < crew_.size(); ++i) {
        if (std::ranges::count(first_, i) >= crew_.session(i).latency()) continue;
        first_.push_back(i);
        dealt = true;
      }
    }
  }

  // The session that holds the next result waits, and no waiting frame is for it.
  bool starved_owner() const {
    const auto owner = owner_.find(results_.next());
    return owner != owner_.end() && hands_[owner->second].idle &&
           find_item(owner->second) == waiting_.end();
  }

  std::deque<Item>::const_iterator find_item(int worker) const {
    return std::find_if(waiting_.begin(), waiting_.end(), [&](const Item& item) {
      return item.taker == anyone || item.taker == worker;
    });
  }

  void serve(int me, Denoiser& session) {
    for (;;) {
      Frame frame;
      switch (next_task(me, frame)) {
        case Task::filter:
          for (auto ready = session.push(std::move(frame)); ready; ready = session.next())
            give_back(me, *std::move(ready));
          break;
        case Task::drain:
          while (std::optional<Frame> ready = session.drain()) give_back(me, *std::move(ready));
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
    auto lock = crew_.lock();
    Hand& hand = hands_[me];
    hand.idle = true;
    crew_.notify_progress();
    const bool there_is = crew_.wait_for_work(
        lock, [&] { return find_item(me) != waiting_.end() || (closing_ && !hand.held.empty()); });
    hand.idle = false;
    if (!there_is) return Task::stop;
    const auto found = find_item(me);
    if (found == waiting_.end()) return Task::drain;
    const auto place = waiting_.begin() + (found - waiting_.cbegin());
    frame = place->frame;
    place->frame.on_device.reset();  // nobody else will take it: see stay_on_device()
    owner_[place->number] = me;
    hand.held.push_back(std::move(*place));
    waiting_.erase(place);
    return Task::filter;
  }

  void give_back(int me, Frame ready) {
    crew_.tell_losses();
    Frame noisy;  // released without the lock
    {
      const auto lock = crew_.lock();
      std::deque<Item>& held = hands_[me].held;
      if (held.empty()) throw InternalError("a session gave back more frames than went in");
      noisy = std::move(held.front().frame);
      owner_.erase(held.front().number);
      results_.add(held.front().number, std::move(ready));
      held.pop_front();
    }
    crew_.notify_progress();
  }

  void check_drained(int me) {
    const auto lock = crew_.lock();
    if (const std::size_t kept = hands_[me].held.size(); kept > 0)
      throw InternalError("a session kept " + std::to_string(kept) + " frames");
  }

  void deal_again(int me) {
    std::deque<Item>& held = hands_[me].held;
    for (const Item& item : held) owner_.erase(item.number);
    std::ranges::move(held, std::back_inserter(waiting_));
    held.clear();
    for (Item& item : waiting_)
      if (crew_.lost(item.taker == anyone ? me : item.taker)) item.taker = anyone;
    std::ranges::sort(waiting_, {}, &Item::number);
  }

  std::optional<RepeatNotes> notes_;
  int latency_ = 0;
  std::vector<int> first_;  // takers of the first frames
  // The crew's lock is over all that follows.
  std::vector<Hand> hands_;
  std::deque<Item> waiting_;           // for a session, in order
  std::map<std::int64_t, int> owner_;  // session that holds a frame
  ResultsInOrder results_;
  bool closing_ = false;
  SessionCrew crew_;  // last: its threads use the others
};

}  // namespace

std::unique_ptr<Denoiser> shard(std::vector<std::unique_ptr<Denoiser>> sessions,
                                ShardOptions options, std::unique_ptr<RepeatFinder> repeats) {
  return std::make_unique<ShardedDenoiser>(std::move(sessions), std::move(options),
                                           std::move(repeats));
}

}  // namespace lull::pipeline
