#include "pipeline/part_scheduler.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "pipeline/repeat_notes.h"
#include "pipeline/results_in_order.h"
#include "pipeline/session_pool.h"

namespace lull::pipeline {
namespace {

constexpr int none = -1;
// The scheduler may split a part if at least f * (m + 1) frames of the part remain. m is the length
// of the longer margin in frames. The factor f is `worth_splitting` while frames arrive, and
// `worth_at_the_end` after the last frame.
constexpr double worth_splitting = 6, worth_at_the_end = 1.5;

class PartScheduler final : public Denoiser {
 public:
  PartScheduler(std::vector<std::unique_ptr<Denoiser>> sessions, PartOptions options)
      : margin_(options.margin),
        frames_(options.frames),
        latency_(frames_ * static_cast<int>(sessions.size()) + std::max(frames_, margin_.after)),
        notes_(std::move(options.repeats)),
        is_idle_(sessions.size(), false),
        pool_(std::move(sessions), std::move(options.shard)) {
    if (margin_.before < 0 || margin_.after < 0 || frames_ < 1)
      throw InvalidArgument(
          "parts of " + std::to_string(frames_) + " frames with margins of " +
          std::to_string(margin_.before) + " and " + std::to_string(margin_.after) +
          " (lengths must be positive, margins not negative); give parts of 1 frame or more");
    pool_.start({.serve = [this](int me, Denoiser& session) { serve(me, session); },
                 .redistribute = [this](int me) { redistribute(me); }});
  }

  int latency() const noexcept override { return latency_; }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (several GPUs share the parts); decode it on the CPU");
    notes_.note(noisy);
    auto lock = pool_.lock();
    if (closing_)
      throw InternalError(
          "a frame was pushed after the last one (push() was called during a drain)");
    add(std::move(noisy));
    pool_.notify_work();
    pool_.wait_for_progress(lock, [&] {
      return results_.has_next() || distinct_in_ - distinct_out_ <= latency_ || needs_input();
    });
    return take_next();
  }

  std::optional<Frame> next() override {
    const auto lock = pool_.lock();
    return take_next();
  }

  std::optional<Frame> drain() override {
    auto lock = pool_.lock();
    closing_ = true;
    for (auto& [number, part] : parts_) part.closed = true;
    pool_.notify_work();
    pool_.wait_for_progress(lock, [&] { return results_.has_next() || results_.in_flight() == 0; });
    std::optional<Frame> next = take_next();
    if (!next) forget_clip();
    return next;
  }

 private:
  struct Item {
    std::int64_t number;  // number of the frame, in the order of push()
    bool own;             // false: a margin frame
    Frame frame;
  };
  struct Part {
    std::deque<Item> items;  // frames, in order
    int own = 0;             // number of frames that are neither margin frames nor repeated
    int after = 0;           // number of margin frames after the part
    int worker = none;
    std::size_t begun = 0;  // number of items that the worker has received
    bool closed = false;    // no more items will be added
  };

  /// Adds a frame to its part and to the margins of neighbouring parts.
  void add(Frame frame) {
    const std::int64_t number = results_.count_in();
    if (frame.repeat_state == RepeatState::repeats) {
      parts_.at(own_part_).items.push_back({number, true, std::move(frame)});
      return;
    }
    ++distinct_in_;
    if (own_part_ == none || parts_.at(own_part_).own >= frames_) begin_part(number);
    for (auto& [at, part] : parts_) {
      if (part.closed) continue;
      const bool own = at == own_part_;
      ++(own ? part.own : part.after);
      part.items.push_back({number, own, frame});
      part.items.back().frame.context_distance = own ? 0 : part.after;
      close_if_whole(at, part);
    }
    before_.push_back({number, false, std::move(frame)});
    if (before_.size() > static_cast<std::size_t>(margin_.before)) before_.pop_front();
  }

  /// The first frames of the new part complete the margin of the previous part.
  void begin_part(std::int64_t number) {
    const std::int64_t last = std::exchange(own_part_, number);
    parts_[own_part_].items = as_margin(before_);
    if (last != none) close_if_whole(last, parts_.at(last));
  }

  static std::deque<Item> as_margin(std::deque<Item> before) {
    for (int context_distance = -static_cast<int>(before.size()); Item & item : before) {
      item.own = false;
      item.frame.context_distance = context_distance++;
    }
    return before;
  }

  void close_if_whole(std::int64_t number, Part& part) {
    if (number != own_part_ && part.after == margin_.after) part.closed = true;
  }

  /// Returns whether the next result requires more input: the oldest part is incomplete, or the
  /// oldest part has no worker while a session waits for more frames of another part.
  bool needs_input() const {
    if (parts_.empty()) return true;
    const Part& oldest = parts_.begin()->second;
    return !oldest.closed || (oldest.worker == none && std::ranges::count(is_idle_, true) > 0);
  }

  std::optional<Frame> take_next() {
    std::optional<Frame> frame = results_.take();
    if (frame && frame->repeat_state != RepeatState::repeats) ++distinct_out_;
    return frame;
  }

  void forget_clip() {
    closing_ = false;
    own_part_ = none;
    before_.clear();
    notes_.clear();
  }

  void serve(int me, Denoiser& session) {
    while (Part* part = take_part(me)) {
      std::size_t pushed = 0, ready = 0;
      for (Frame frame; next_frame(me, *part, pushed, frame); ++pushed)
        for (auto result = session.push(std::move(frame)); result; result = session.next())
          keep(*part, ready++, *std::move(result));
      if (stopping()) return;
      while (std::optional<Frame> result = session.drain())
        keep(*part, ready++, *std::move(result));
      finish(me, ready);
    }
  }

  /// Returns the oldest part without a worker, or null if the pool stops.
  Part* take_part(int me) {
    auto lock = pool_.lock();
    Part* part = nullptr;
    const bool has_work = pool_.wait_for_work(lock, [&] {
      const auto found = std::ranges::find_if(
          parts_, [](const auto& entry) { return entry.second.worker == none; });
      part = found != parts_.end() ? &found->second : split_longest();
      return part != nullptr;
    });
    if (!has_work) return nullptr;
    part->worker = me;
    part->begun = 0;
    pool_.notify_progress();
    return part;
  }

  static bool may_begin(const Item& item) {
    return item.own && item.frame.repeat_state != RepeatState::repeats;
  }

  /// Splits the part with the most remaining frames and returns the second half, or null if no part
  /// is long enough.
  Part* split_longest() {
    Part* longest = nullptr;
    std::int64_t most = 0, number = none;
    for (auto& [at, part] : parts_) {
      const auto rest = part.items.begin() + static_cast<std::ptrdiff_t>(part.begun);
      const std::int64_t left = std::count_if(rest, part.items.end(), may_begin);
      if (left > most) longest = &part, most = left, number = at;
    }
    // After a split, each half needs fewer than `filtered_twice` frames of the other half as
    // temporal context. Two sessions filter these frames, so the scheduler splits only parts with
    // many remaining frames. While frames arrive, the limit is higher, because the first half
    // receives no more frames and must already contain its context.
    const int filtered_twice = std::max(margin_.before, margin_.after) + 1;
    if (static_cast<double>(most) <
        (closing_ ? worth_at_the_end : worth_splitting) * filtered_twice)
      return nullptr;
    auto middle = longest->items.begin() + static_cast<std::ptrdiff_t>(longest->begun);
    for (std::int64_t stay = (most + filtered_twice) / 2; stay > 0 || !may_begin(*middle); ++middle)
      if (may_begin(*middle)) --stay;
    if (number == own_part_) own_part_ = middle->number;
    return split(*longest, middle);
  }

  /// Moves the item at `middle` and all later items into a new part, and returns the new part.
  Part* split(Part& part, std::deque<Item>::iterator middle) {
    Part& second = parts_[middle->number];
    for (auto at = middle; at != part.items.begin() && std::ssize(second.items) < margin_.before;)
      if ((--at)->frame.repeat_state != RepeatState::repeats) second.items.push_front(*at);
    second.items = as_margin(std::move(second.items));
    second.items.insert(second.items.end(), middle, part.items.end());
    second.own = static_cast<int>(std::count_if(middle, part.items.end(), may_begin));
    second.after = part.after;
    second.closed = part.closed;
    make_margin(part, middle);
    part.closed = true;
    return &second;
  }

  /// Shortens `part`, which then ends before the item at `end`. From `end` on, the next
  /// `margin_.after` frames that are not repeated become the margin after the part.
  void make_margin(Part& part, std::deque<Item>::iterator end) {
    std::deque<Item> after(std::make_move_iterator(end), std::make_move_iterator(part.items.end()));
    part.items.erase(end, part.items.end());
    part.after = 0;
    for (Item& item : after) {
      if (part.after == margin_.after) break;
      if (item.frame.repeat_state == RepeatState::repeats) continue;
      item.own = false;
      item.frame.context_distance = ++part.after;
      part.items.push_back(std::move(item));
    }
  }

  /// Reads item `at` of the part. Returns false at the end of the part, or if the pool stops.
  bool next_frame(int me, Part& part, std::size_t at, Frame& frame) {
    auto lock = pool_.lock();
    if (at >= part.items.size() && !part.closed) {
      is_idle_[me] = true;
      pool_.notify_progress();
    }
    const bool goes_on =
        pool_.wait_for_work(lock, [&] { return at < part.items.size() || part.closed; });
    is_idle_[me] = false;
    if (!goes_on || at >= part.items.size()) return false;
    frame = part.items[at].frame;
    part.begun = at + 1;
    return true;
  }

  bool stopping() {
    auto lock = pool_.lock();
    return !pool_.wait_for_work(lock, [] { return true; });
  }

  /// Stores a result of the session. `at` is the index of the frame in the part.
  void keep(const Part& part, std::size_t at, Frame result) {
    pool_.report_failures();
    {
      const auto lock = pool_.lock();
      if (at >= part.items.size())
        throw InternalError("a session returned more frames than were pushed");
      const Item& item = part.items[at];
      // The scheduler ignores results of margin frames, which are only temporal context. If a
      // session fails after it has returned the result of a frame, another session returns a second
      // result, which the scheduler ignores, too.
      if (!item.own || results_.had(item.number)) return;
      result.repeat_state = item.frame.repeat_state;
      results_.add(item.number, std::move(result));
    }
    pool_.notify_progress();
  }

  void finish(int me, std::size_t results) {
    decltype(parts_)::node_type done;  // destroyed without the lock
    {
      const auto lock = pool_.lock();
      const auto mine = std::ranges::find_if(
          parts_, [&](const auto& entry) { return entry.second.worker == me; });
      if (const std::size_t kept = mine->second.items.size() - results; kept > 0)
        throw InternalError("a session did not return " + std::to_string(kept) + " frames");
      done = parts_.extract(mine);
    }
    pool_.notify_progress();
  }

  void redistribute(int me) {
    is_idle_[me] = false;
    for (auto& [number, part] : parts_)
      if (part.worker == me) part.worker = none;
  }

  const Margin margin_;
  const int frames_, latency_;
  RepeatNotes notes_;
  // The lock of the pool protects all members from `is_idle_` to `closing_`.
  std::vector<char> is_idle_;           // sessions that wait for more frames of their part
  std::map<std::int64_t, Part> parts_;  // key: number of the first frame of the part
  std::deque<Item> before_;       // margin of the next part: last frames that are not repeated
  std::int64_t own_part_ = none;  // the part to which new frames belong
  ResultsInOrder results_;
  // Number of pushed frames and number of returned frames. Repeated frames do not count.
  std::int64_t distinct_in_ = 0, distinct_out_ = 0;
  bool closing_ = false;
  SessionPool pool_;  // the last member, because its threads use the other members
};

}  // namespace

std::unique_ptr<Denoiser> shard_parts(std::vector<std::unique_ptr<Denoiser>> sessions,
                                      PartOptions options) {
  return std::make_unique<PartScheduler>(std::move(sessions), std::move(options));
}

}  // namespace lull::pipeline
