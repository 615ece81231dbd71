#pragma once
// The class Timeline decides, from frame indices only, which frames of a clip are neighbours, and
// which frames repeat other frames.

// Distinct frames do not repeat the previous frame, and have the indices 0, 1, 2, ... A temporal
// radius counts only distinct frames.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/frame.h"
#include "time/frame_relation.h"
#include "time/frames.h"

namespace lull {

/// Maximum number of repeated frames in a row. The next frame counts as distinct, but shares noise
/// with the frames before it.
inline constexpr int max_repeats = 30;

/// The neighbouring frames that can contribute patches to the groups of a frame, as offsets in the
/// order of match/group.h.
struct NeighbourFrames {
  int count = 0;
  std::array<int, 2 * max_temporal> offset;
};

class Timeline {
 public:
  explicit Timeline(int radius) : radius_(radius) {}

  /// Returns whether a frame is distinct, from its relation to the previous frame. If several
  /// successive frames have Relation::repeats, only the first of them counts as repeated, and the
  /// others count as distinct.
  [[nodiscard]] bool is_distinct(Relation relation) {
    const bool again = relation == Relation::identical ||
                       (relation == Relation::repeats && last_change_ != Relation::repeats);
    if (relation != Relation::identical) last_change_ = relation;
    if (!again || repeats_ == max_repeats) return repeats_ = 0, true;
    ++repeats_;
    return false;
  }

  /// Calls is_distinct(), and returns the repeat state of the frame.
  [[nodiscard]] RepeatState classify(Relation relation) {
    if (!is_distinct(relation)) return RepeatState::repeats;
    return relation == Relation::independent ? RepeatState::independent : RepeatState::shares_noise;
  }

  /// Adds a distinct frame. `shares_noise` states whether the frame shares noise with the previous
  /// distinct frame. `predicted_by` is the distance to the nearest earlier frame of the same scene,
  /// at most `radius`, or 0 if there is no such frame.
  void add(bool shares_noise, int predicted_by) {
    Entry& entry = at(count_);
    entry.run = shares_noise && count_ > 0 ? at(count_ - 1).run : count_;
    entry.parent = predicted_by > 0 ? count_ - predicted_by : -1;
    ++count_;
  }

  /// Returns the number of distinct frames so far.
  int count() const { return count_; }

  /// Returns by how many frames the search for neighbours of frame `n` extends beyond frame n +
  /// radius, usually 0. Near the start of a scene, few frames precede frame `n`. The search then
  /// ends 2 * radius frames after the first frame of the scene, but at most `max_temporal` frames
  /// after frame `n`.
  [[nodiscard]] int extra_ahead(int n) const {
    int first = n;
    for (int before = n - 1; before >= std::max(n - radius_, 0); --before)
      if (same_scene(before, n)) first = before;
    // If an earlier frame predicts the frame `first`, even across a flash, the scene began before
    // this frame.
    if (at(first).parent >= 0) return 0;
    return std::max(std::min(first + 2 * radius_, n + max_temporal) - (n + radius_), 0);
  }

  /// Returns by how many frames the search for neighbours of frame `n` begins before frame n -
  /// radius, usually 0. Near the end of a clip, few frames follow frame `n`. If extra_ahead(n) is
  /// 0, the search then begins at frame count() - 2 * radius, but at most `max_temporal` frames
  /// before frame `n`.
  [[nodiscard]] int extra_back(int n) const {
    if (extra_ahead(n) > 0) return 0;
    return std::max(std::min(n - (count_ - 2 * radius_), max_temporal) - radius_, 0);
  }

  /// Returns the neighbours of frame `n`: the nearest frames of the same scene with independent
  /// noise. The search extends from frame n - radius - further_back to n + radius + extra_ahead(n).
  /// `n` must be at least count() - 1 - 8 * radius, because the timeline stores only the last
  /// frames.
  [[nodiscard]] NeighbourFrames neighbours(int n, int further_back = 0) const {
    NeighbourFrames result;
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

  /// Resets the timeline for another clip.
  void clear() { *this = Timeline(radius_); }

 private:
  struct Entry {
    int run = 0;      // index of the first frame that shares noise with this one
    int parent = -1;  // index of the frame that predicts this frame; -1: no such frame
  };
  static constexpr int kept = 10 * max_temporal;

  Entry& at(int n) { return entries_[n % kept]; }
  const Entry& at(int n) const { return entries_[n % kept]; }

  /// Returns whether frame `earlier` predicts frame `later`, directly or through a chain of frames.
  /// The chain may skip frames of another scene, such as a flash.
  bool same_scene(int earlier, int later) const {
    while (later > earlier) later = at(later).parent;
    return later == earlier;
  }

  int radius_;
  int count_ = 0;
  int repeats_ = 0;
  /// The last value other than Relation::identical that is_distinct() received.
  Relation last_change_ = Relation::independent;
  std::array<Entry, kept> entries_{};
};

}  // namespace lull
