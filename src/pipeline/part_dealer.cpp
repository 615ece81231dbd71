#include "pipeline/part_dealer.h"

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
#include "pipeline/session_crew.h"

namespace lull::pipeline {
namespace {

constexpr int nobody = -1;
// A session without work takes half of what another one has before it, where that is so many times
// what is lost by it: more as long as frames come, of which it may get some.
constexpr double worth_splitting = 6, worth_at_the_end = 1.5;

class PartDealer final : public Denoiser {
 public:
  PartDealer(std::vector<std::unique_ptr<Denoiser>> sessions, PartOptions options)
      : margin_(options.margin),
        frames_(options.frames),
        latency_(frames_ * static_cast<int>(sessions.size()) + std::max(frames_, margin_.after)),
        notes_(std::move(options.repeats)),
        starving_(sessions.size(), false),
        crew_(std::move(sessions), std::move(options.shard)) {
    if (margin_.before < 0 || margin_.after < 0 || frames_ < 1)
      throw InvalidArgument("parts of " + std::to_string(frames_) + " frames with margins of " +
                            std::to_string(margin_.before) + " and " +
                            std::to_string(margin_.after) +
                            " (there is no such length); give parts of 1 frame or more");
    crew_.start({.serve = [this](int me, Denoiser& session) { serve(me, session); },
                 .deal_again = [this](int me) { deal_again(me); }});
  }

  int latency() const noexcept override { return latency_; }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (parts are dealt to several); decode it on the CPU");
    notes_.note(noisy);
    auto lock = crew_.lock();
    if (closing_)
      throw InternalError("a frame came after the last (push() was called within a drain)");
    add(std::move(noisy));
    crew_.notify_work();
    crew_.wait_for_progress(lock, [&] {
      return results_.has_next() || distinct_in_ - distinct_out_ <= latency_ || needs_input();
    });
    return take_next();
  }

  std::optional<Frame> next() override {
    const auto lock = crew_.lock();
    return take_next();
  }

  std::optional<Frame> drain() override {
    auto lock = crew_.lock();
    closing_ = true;
    for (auto& [number, part] : parts_) part.closed = true;
    crew_.notify_work();
    crew_.wait_for_progress(lock, [&] { return results_.has_next() || results_.in_flight() == 0; });
    std::optional<Frame> next = take_next();
    if (!next) forget_clip();
    return next;
  }

 private:
  struct Item {
    std::int64_t number;  // in the order of push()
    bool own;             // not of a margin
    Frame frame;
  };
  struct Part {
    std::deque<Item> items;  // in order
    int own = 0;             // frames that are neither of a margin nor repetitions
    int after = 0;           // of its margin, behind it
    int taker = nobody;
    std::size_t begun = 0;  // items that its taker has
    bool closed = false;    // there will be no more items
  };

  /// Hands a frame to the part that it belongs to, and to those whose margins it is in.
  void add(Frame frame) {
    const std::int64_t number = results_.count_in();
    if (frame.likeness == Likeness::repeats) {
      parts_.at(own_part_).items.push_back({number, true, std::move(frame)});
      return;
    }
    ++distinct_in_;
    if (own_part_ == nobody || parts_.at(own_part_).own >= frames_) begin_part(number);
    for (auto& [at, part] : parts_) {
      if (part.closed) continue;
      const bool own = at == own_part_;
      ++(own ? part.own : part.after);
      part.items.push_back({number, own, frame});
      part.items.back().frame.aside = own ? 0 : part.after;
      close_if_whole(at, part);
    }
    before_.push_back({number, false, std::move(frame)});
    if (before_.size() > static_cast<std::size_t>(margin_.before)) before_.pop_front();
  }

  /// The part that was filled is now followed by others' frames.
  void begin_part(std::int64_t number) {
    const std::int64_t last = std::exchange(own_part_, number);
    parts_[own_part_].items = as_margin(before_);
    if (last != nobody) close_if_whole(last, parts_.at(last));
  }

  static std::deque<Item> as_margin(std::deque<Item> before) {
    for (int aside = -static_cast<int>(before.size()); Item & item : before) {
      item.own = false;
      item.frame.aside = aside++;
    }
    return before;
  }

  void close_if_whole(std::int64_t number, Part& part) {
    if (number != own_part_ && part.after == margin_.after) part.closed = true;
  }

  /// Whether what is wanted next waits for more frames: of its own part, or of the one that its
  /// taker-to-be is in.
  bool needs_input() const {
    if (parts_.empty()) return true;
    const Part& oldest = parts_.begin()->second;
    return !oldest.closed || (oldest.taker == nobody && std::ranges::count(starving_, true) > 0);
  }

  std::optional<Frame> take_next() {
    std::optional<Frame> frame = results_.take();
    if (frame && frame->likeness != Likeness::repeats) ++distinct_out_;
    return frame;
  }

  void forget_clip() {
    closing_ = false;
    own_part_ = nobody;
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

  /// The oldest that nobody has; null: the crew stops.
  Part* take_part(int me) {
    auto lock = crew_.lock();
    Part* part = nullptr;
    const bool there_is = crew_.wait_for_work(lock, [&] {
      const auto found = std::ranges::find_if(
          parts_, [](const auto& entry) { return entry.second.taker == nobody; });
      part = found != parts_.end() ? &found->second : split_longest();
      return part != nullptr;
    });
    if (!there_is) return nullptr;
    part->taker = me;
    part->begun = 0;
    crew_.notify_progress();
    return part;
  }

  static bool may_begin(const Item& item) {
    return item.own && item.frame.likeness != Likeness::repeats;
  }

  /// Nobody has anything left to take: the second half of the longest rest of a part becomes a part
  /// of its own. Null: no rest is worth it.
  Part* split_longest() {
    Part* longest = nullptr;
    std::int64_t most = 0, number = nobody;
    for (auto& [at, part] : parts_) {
      const auto rest = part.items.begin() + static_cast<std::ptrdiff_t>(part.begun);
      const std::int64_t left = std::count_if(rest, part.items.end(), may_begin);
      if (left > most) longest = &part, most = left, number = at;
    }
    // To the margins of one more part, at most. As long as frames come, the second half is no
    // shorter than the first one's margin.
    const int lost = std::max(margin_.before, margin_.after) + 1;
    if (static_cast<double>(most) < (closing_ ? worth_at_the_end : worth_splitting) * lost)
      return nullptr;
    auto middle = longest->items.begin() + static_cast<std::ptrdiff_t>(longest->begun);
    for (std::int64_t stay = (most + lost) / 2; stay > 0 || !may_begin(*middle); ++middle)
      if (may_begin(*middle)) --stay;
    if (number == own_part_) own_part_ = middle->number;
    return split(*longest, middle);
  }

  /// From `middle` on the items are another part's, which is given back.
  Part* split(Part& part, std::deque<Item>::iterator middle) {
    Part& second = parts_[middle->number];
    for (auto at = middle; at != part.items.begin() && std::ssize(second.items) < margin_.before;)
      if ((--at)->frame.likeness != Likeness::repeats) second.items.push_front(*at);
    second.items = as_margin(std::move(second.items));
    second.items.insert(second.items.end(), middle, part.items.end());
    second.own = static_cast<int>(std::count_if(middle, part.items.end(), may_begin));
    second.after = part.after;
    second.closed = part.closed;
    make_margin(part, middle);
    part.closed = true;
    return &second;
  }

  /// What the part has from `end` on becomes its margin.
  void make_margin(Part& part, std::deque<Item>::iterator end) {
    std::deque<Item> after(std::make_move_iterator(end), std::make_move_iterator(part.items.end()));
    part.items.erase(end, part.items.end());
    part.after = 0;
    for (Item& item : after) {
      if (part.after == margin_.after) break;
      if (item.frame.likeness == Likeness::repeats) continue;
      item.own = false;
      item.frame.aside = ++part.after;
      part.items.push_back(std::move(item));
    }
  }

  /// Item `at` of the part; false: there is none, or the crew stops.
  bool next_frame(int me, Part& part, std::size_t at, Frame& frame) {
    auto lock = crew_.lock();
    if (at >= part.items.size() && !part.closed) {
      starving_[me] = true;
      crew_.notify_progress();
    }
    const bool goes_on =
        crew_.wait_for_work(lock, [&] { return at < part.items.size() || part.closed; });
    starving_[me] = false;
    if (!goes_on || at >= part.items.size()) return false;
    frame = part.items[at].frame;
    part.begun = at + 1;
    return true;
  }

  bool stopping() {
    auto lock = crew_.lock();
    return !crew_.wait_for_work(lock, [] { return true; });
  }

  /// Result number `at` of the session in this part.
  void keep(const Part& part, std::size_t at, Frame result) {
    crew_.tell_losses();
    {
      const auto lock = crew_.lock();
      if (at >= part.items.size())
        throw InternalError("a session gave back more frames than went in");
      const Item& item = part.items[at];
      // What a lost session has given back stays.
      if (!item.own || results_.had(item.number)) return;
      result.likeness = item.frame.likeness;
      results_.add(item.number, std::move(result));
    }
    crew_.notify_progress();
  }

  void finish(int me, std::size_t results) {
    decltype(parts_)::node_type done;  // goes without the lock
    {
      const auto lock = crew_.lock();
      const auto mine =
          std::ranges::find_if(parts_, [&](const auto& entry) { return entry.second.taker == me; });
      if (const std::size_t kept = mine->second.items.size() - results; kept > 0)
        throw InternalError("a session kept " + std::to_string(kept) + " frames");
      done = parts_.extract(mine);
    }
    crew_.notify_progress();
  }

  void deal_again(int me) {
    starving_[me] = false;
    for (auto& [number, part] : parts_)
      if (part.taker == me) part.taker = nobody;
  }

  const Margin margin_;
  const int frames_, latency_;
  RepeatNotes notes_;
  // The crew's lock is over all that follows.
  std::vector<char> starving_;          // sessions that wait for more frames of their part
  std::map<std::int64_t, Part> parts_;  // by the number of the first frame
  std::deque<Item> before_;             // the last frames that are no repetitions: a margin of them
  std::int64_t own_part_ = nobody;      // that frames come to now
  ResultsInOrder results_;
  std::int64_t distinct_in_ = 0, distinct_out_ = 0;  // frames that are no repetitions
  bool closing_ = false;
  SessionCrew crew_;  // last: its threads use the others
};

}  // namespace

std::unique_ptr<Denoiser> shard_parts(std::vector<std::unique_ptr<Denoiser>> sessions,
                                      PartOptions options) {
  return std::make_unique<PartDealer>(std::move(sessions), std::move(options));
}

}  // namespace lull::pipeline
