#pragma once
// The schedule of a phase along z: when the worker can filter the reference cubes at a z position
// (a layer), and when it has finished a slice.

#include <algorithm>
#include <optional>

#include "bm4d/params.h"
#include "bm4d/volume_engine.h"

namespace lull::bm4d {

/// The schedule of one phase. Reference cubes begin in slices at multiples of the step, counted
/// from the first slice of the complete volume, even if the session receives only a part. The last
/// reference cubes end with the last slice of the volume.
class PhaseSchedule {
 public:
  /// `at_a_time` is the number of layers of reference cubes in a batch. The last batch of a volume
  /// may be smaller.
  PhaseSchedule(Phase phase, const PhaseParams& params, int at_a_time)
      : phase_(phase), params_(params), at_a_time_(at_a_time) {}

  void begin(int z) {
    first_ = available_ = finished_ = z;
    next_ = (z + params_.step - 1) / params_.step * params_.step;
    last_run_ = -1;
    ended_ = false;
  }
  /// Adds one slice to the available slices.
  void add_slice() { ++available_; }
  /// States that the volume has no further slices. The volume must have at least as many slices as
  /// a cube.
  void end() { ended_ = true; }

  /// Returns the next layers of reference cubes that the phase can filter, and marks these layers
  /// as filtered. Returns an empty value if no layer is ready.
  std::optional<Layers> next_layers() {
    /// The last z position at which a cube fits in the available slices. When all slices of the
    /// volume are available, the last reference cubes begin at this position.
    const int end_place = available_ - params_.cube;
    const int far = next_ + (at_a_time_ - 1) * params_.step;
    int z = next_, count = at_a_time_;
    if (!ended_) {
      if (far + params_.radius() > end_place) return std::nullopt;
    } else if (next_ <= end_place) {
      count = std::min(at_a_time_, (end_place - next_) / params_.step + 1);
    } else if (last_run_ != end_place && end_place >= first_) {
      return last_run_ = end_place,
             Layers{.phase = phase_, .z = end_place, .available = {first_, available_}};
    } else {
      return std::nullopt;
    }
    last_run_ = z + (count - 1) * params_.step;
    next_ = last_run_ + params_.step;
    return Layers{.phase = phase_, .z = z, .count = count, .available = {first_, available_}};
  }

  /// Returns the next slice to which no later reference cube adds estimates, and marks the slice as
  /// finished. Returns an empty value if there is no such slice.
  std::optional<int> next_finished() {
    // The last z position at which a cube fits in the available slices. When all slices of the
    // volume are available, the last reference cubes begin at this position.
    const int end_place = available_ - params_.cube;
    int coming = std::min(next_, std::max(end_place, last_run_ + 1));
    int end = std::min(coming - params_.radius(), available_);
    if (ended_ && last_run_ == end_place) end = available_;
    if (finished_ >= end) return std::nullopt;
    return finished_++;
  }

  /// Returns the slices to which the groups of `layers` add estimates.
  SliceSpan reach(const Layers& layers) const {
    return {layers.z - params_.radius(),
            layers.z + (layers.count - 1) * params_.step + params_.radius() + params_.cube};
  }

 private:
  Phase phase_;
  PhaseParams params_;
  int at_a_time_;
  int first_ = 0, available_ = 0;  // available slices: first .. available - 1
  int next_ = 0;                   // z position of the next reference cubes
  int last_run_ = -1;              // z position of the last filtered reference cubes
  int finished_ = 0;               // slices before it are finished
  bool ended_ = false;
};

}  // namespace lull::bm4d
