#pragma once
// Which frames of a clip are candidates of each other, and which are not filtered at all: the rules
// of a session with memory, without any samples.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/frame.h"
#include "time/frame_relation.h"
#include "time/frames.h"

namespace lull {

/// A frame that repeats the one before it is not filtered: it gets the result of the frame that it
/// repeats. The others are *distinct*. They are numbered from 0, and a temporal radius counts them
/// alone. After so many repetitions in a row the next frame is distinct, with shared noise.
inline constexpr int max_repeats = 30;

/// The other frames that a frame's groups take patches from: offsets from it, in the order of
/// group.h.
struct Neighbours {
  int count = 0;
  std::array<int, 2 * max_temporal> offset;
};

class Timeline {
 public:
  explicit Timeline(int radius) : radius_(radius) {}

  /// Whether a frame that is `relation` to the frame before it, in the order of pushes, is
  /// distinct. Of frames that repeat each other with small differences only the first one is not,
  /// so that none drifts away from the one that is filtered in its place.
  [[nodiscard]] bool is_distinct(Relation relation) {
    const bool again = relation == Relation::identical ||
                       (relation == Relation::repeats && last_change_ != Relation::repeats);
    if (relation != Relation::identical) last_change_ = relation;
    if (!again || repeats_ == max_repeats) return repeats_ = 0, true;
    ++repeats_;
    return false;
  }

  /// The same, and what it is to the frame before.
  [[nodiscard]] Likeness judge(Relation relation) {
    if (!is_distinct(relation)) return Likeness::repeats;
    return relation == Relation::fresh ? Likeness::fresh : Likeness::shares_noise;
  }

  /// Adds a distinct frame. `shares_noise` with the distinct frame before; `predicted_by`: so many
  /// frames before it is the nearest of the `radius` that shows the same scene, 0 if none does.
  void add(bool shares_noise, int predicted_by) {
    Entry& entry = at(count_);
    entry.run = shares_noise && count_ > 0 ? at(count_ - 1).run : count_;
    entry.parent = predicted_by > 0 ? count_ - predicted_by : -1;
    ++count_;
  }

  /// Distinct frames so far.
  int count() const { return count_; }

  /// How many frames more than the radius frame `n` looks ahead. A scene's first frames have few or
  /// none before them: they look at as many as others do, of those that come after, up to
  /// max_temporal ahead.
  [[nodiscard]] int extra_ahead(int n) const {
    int first = n;
    for (int before = n - 1; before >= std::max(n - radius_, 0); --before)
      if (same_scene(before, n)) first = before;
    // Where a scene has a frame before it that is no part of it, as a flash has, it began earlier.
    if (at(first).parent >= 0) return 0;
    return std::max(std::min(first + 2 * radius_, n + max_temporal) - (n + radius_), 0);
  }

  /// How many frames more than the radius frame `n` looks back to, where no frame comes after the
  /// count() there are: the last frames of a clip have few or none after them. They look at the
  /// last 2 radius frames, up to max_temporal back. 0 where they look further ahead.
  [[nodiscard]] int extra_back(int n) const {
    if (extra_ahead(n) > 0) return 0;
    return std::max(std::min(n - (count_ - 2 * radius_), max_temporal) - radius_, 0);
  }

  /// Of frame `n`, n >= count() - 1 - 6 radius: frames n - radius - further_back .. n + radius +
  /// extra_ahead(n) that are there, less those of other scenes and those that share its noise; of
  /// several that share theirs, the nearest.
  [[nodiscard]] Neighbours neighbours(int n, int further_back = 0) const {
    Neighbours result;
    const int back = radius_ + further_back, ahead = radius_ + extra_ahead(n);
    int run_before = at(n).run, run_after = run_before;
    for (int distance = 1; distance <= std::max(back, ahead); ++distance) {
      const int before = n - distance, after = n + distance;
      if (distance <= back && before >= 0 && same_scene(before, n) &&
          at(before).run != run_before) {
        run_before = at(before).run;
        result.offset[result.count++] = -distance;
      }
      if (distance <= ahead && after < count_ && same_scene(n, after) &&
          at(after).run != run_after) {
        run_after = at(after).run;
        result.offset[result.count++] = distance;
      }
    }
    return result;
  }

  /// As new.
  void clear() { *this = Timeline(radius_); }

 private:
  struct Entry {
    int run = 0;      // first of the frames that share its noise
    int parent = -1;  // frame that predicts it
  };
  static constexpr int kept = 8 * max_temporal;

  Entry& at(int n) { return entries_[n % kept]; }
  const Entry& at(int n) const { return entries_[n % kept]; }

  /// Whether a chain of predictions leads from `later` to `earlier`. Frames in between may be of
  /// another scene: a flash, or an inserted picture.
  bool same_scene(int earlier, int later) const {
    while (later > earlier) later = at(later).parent;
    return later == earlier;
  }

  int radius_;
  int count_ = 0;
  int repeats_ = 0;
  Relation last_change_ = Relation::fresh;  // of the last frame that was not identical
  std::array<Entry, kept> entries_{};
};

}  // namespace lull
