#pragma once
// The data of the frames that a session of the host backends processes, and the memory that these
// frames share.

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "bm3d/phase_engine.h"
#include "core/frame.h"
#include "core/plane.h"
#include "match/kept_groups.h"
#include "noise/holes.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull::bm3d {

/// The planes of a frame as float samples, in the colour space of the filter.
using HostPlanes = std::array<Plane<float>, 3>;
using PlaneViews = std::array<PlaneView<const float>, 3>;

/// The data of an unfinished frame. In phases that do not use `basic`, `luma_guide` or `groups`,
/// the member is empty, and other frames can use its memory (SlotMemory).
struct Slot {
  // The noisy frame. The session stores it only if a later step reads the original samples. Such a
  // step copies unfiltered planes or out-of-range samples to the result, or loads the input of the
  // filter directly from the frame.
  Frame frame;
  bool guarded = false;  // whether the filter input has replaced samples (float_guard.h)
  std::shared_ptr<const Holes> holes;
  HostPlanes noisy;  // empty if the engine loads samples from the frame
  HostPlanes basic;  // basic estimates of the planes that are filtered
  // Luma guide of the second phase: the basic estimate mixed with the noisy picture. If `noisy` is
  // empty, this plane contains the luma guide of the first phase until that phase ends.
  Plane<float> luma_guide;
  HostPlanes guide_planes;       // guide that came with the frame
  Plane<float> composite_guide;  // guide of the current phase that is computed from several planes
  std::array<std::unique_ptr<PhaseSums>, 3> sums;  // sums of the estimates of the filtered planes
  // groups[i] contains the stored groups of the set of planes (PlaneSet) that begins with plane i.
  std::array<KeptGroups, 3> groups;
  ByOffset<std::vector<Motion>> motion;  // motion vectors of the bundles that are being filtered
};

/// Released objects, whose memory the session reuses.
template <class T>
class FreeList {
 public:
  bool empty() const { return free_.empty(); }
  /// Returns the most recently released object. The list must not be empty.
  T take() {
    T object = std::move(free_.back());
    free_.pop_back();
    return object;
  }
  void put(T object) { free_.push_back(std::move(object)); }

 private:
  std::vector<T> free_;
};

/// Memory that frames use only in some phases, and then release for other frames.
class SlotMemory {
 public:
  explicit SlotMemory(const FrameFormat& format) : format_(format) {}

  /// If `plane` is empty, allocates memory for plane `i` of a frame, with undefined samples.
  void acquire(int i, Plane<float>& plane) {
    if (plane.width() > 0) return;
    FreeList<Plane<float>>& free = planes_of_size(i);
    plane =
        free.empty() ? Plane<float>(format_.plane_width(i), format_.plane_height(i)) : free.take();
  }
  void release(int i, Plane<float>& plane) {
    if (plane.width() > 0) planes_of_size(i).put(std::exchange(plane, {}));
  }

  /// Reuses released memory for `groups`, which must be empty. `set` is the first plane of the set
  /// of planes (PlaneSet) to which `groups` belongs. Without released memory, `groups` remains
  /// empty.
  void acquire_groups(int set, KeptGroups& groups) {
    if (!groups_[set].empty()) groups = groups_[set].take();
  }
  void release_groups(std::array<KeptGroups, 3>& groups) {
    for (std::size_t set = 0; set < groups.size(); ++set)
      if (!groups[set].empty()) groups_[set].put(std::exchange(groups[set], {}));
  }

  /// Releases the memory that a frame needs only in some phases.
  void release(Slot& slot) {
    for (int i = 0; i < 3; ++i) release(i, slot.basic[i]);
    release(0, slot.luma_guide);
    release_groups(slot.groups);
  }

 private:
  /// Returns the released planes with the size of plane `i`. Planes 1 and 2 have the same size.
  FreeList<Plane<float>>& planes_of_size(int i) { return planes_[i == 0 ? 0 : 1]; }

  FrameFormat format_;
  std::array<FreeList<Plane<float>>, 2> planes_;
  std::array<FreeList<KeptGroups>, 3> groups_;
};

}  // namespace lull::bm3d
