#pragma once
// When a phase can go on: layers of reference cubes and finished slices along z, without any
// samples.

#include <algorithm>
#include <optional>

#include "bm4d/params.h"
#include "bm4d/volume_engine.h"

namespace lull::bm4d {

/// One phase in one volume. Layers lie at multiples of the step from the volume's first slice on,
/// and one at its end; what is seen of a volume may begin with a later slice.
class PhaseSchedule {
 public:
  /// `at_a_time`: layers that are filtered together before the end.
  PhaseSchedule(Phase phase, const PhaseParams& params, int at_a_time)
      : phase_(phase), params_(params), at_a_time_(at_a_time) {}

  void begin(int z) {
    first_ = available_ = finished_ = z;
    next_ = (z + params_.step - 1) / params_.step * params_.step;
    last_run_ = -1;
    ended_ = false;
  }
  /// One more slice is there to be looked at.
  void add_slice() { ++available_; }
  /// There will be no more; a cube's side have come at least.
  void end() { ended_ = true; }

  /// What can be filtered now, if anything. Once it is asked for, it counts as done.
  std::optional<Layers> take_layers() {
    const int end_place = available_ - params_.cube;  // of the last layer, if this is the end
    const int far = next_ + (at_a_time_ - 1) * params_.step;
    int z = next_, count = at_a_time_;
    if (!ended_) {
      if (far + params_.radius() > end_place) return std::nullopt;
    } else if (next_ <= end_place) {
      count = std::min(at_a_time_, (end_place - next_) / params_.step + 1);
    } else if (last_run_ != end_place && end_place >= first_) {
      return last_run_ = end_place,
             Layers{.phase = phase_, .z = end_place, .there = {first_, available_}};
    } else {
      return std::nullopt;
    }
    last_run_ = z + (count - 1) * params_.step;
    next_ = last_run_ + params_.step;
    return Layers{.phase = phase_, .z = z, .count = count, .there = {first_, available_}};
  }

  /// The next slice that no layer to come reaches, if there is one. It counts as finished.
  std::optional<int> take_finished() {
    // Where the end may come, a layer comes at the last place.
    const int end_place = available_ - params_.cube;
    int coming = std::min(next_, std::max(end_place, last_run_ + 1));
    int end = std::min(coming - params_.radius(), available_);
    if (ended_ && last_run_ == end_place) end = available_;
    if (finished_ >= end) return std::nullopt;
    return finished_++;
  }

  /// Slices that estimates of these layers are added to.
  SliceSpan reach(const Layers& layers) const {
    return {layers.z - params_.radius(),
            layers.z + (layers.count - 1) * params_.step + params_.radius() + params_.cube};
  }

 private:
  Phase phase_;
  PhaseParams params_;
  int at_a_time_;
  int first_ = 0, available_ = 0;  // slices that are there: first .. available - 1
  int next_ = 0;                   // next layer of the grid
  int last_run_ = -1;              // last layer that was filtered
  int finished_ = 0;               // slices before it are
  bool ended_ = false;
};

}  // namespace lull::bm4d
