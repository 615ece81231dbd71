#pragma once
// The seam between the session over slices (open/volume_session.h), which knows which slice and
// which layer is worked on when, and the backends, which know their samples.

#include <memory>
#include <span>
#include <vector>

#include "bm4d/volume_engine.h"
#include "core/frame.h"

namespace lull::bm4d {

/// Works through volumes slice by slice, all planes with noise of each. Calls come in this order: a
/// slice is loaded before the layers that look at it, slices and layers rise along z, and slices
/// are finished when no layer that is to come reaches them. Nothing is kept of slices before the
/// last one finished.
class VolumeWorker {
 public:
  virtual ~VolumeWorker() = default;
  /// A volume begins, or what is seen of it, with slice `z`.
  virtual void begin(int z) = 0;
  /// The samples of `slice` stay until its result was waited for.
  virtual void load(int z, const Frame& slice) = 0;
  /// Matches and filters the groups of reference cubes, and adds up their estimates.
  virtual void filter(const Layers& layers) = 0;
  /// The basic estimate of these slices, that of the noisy volume where no cube was filtered.
  virtual void finish_basic(SliceSpan slices) = 0;
  /// A frame for a result, wherever those lie.
  [[nodiscard]] virtual Frame acquire() = 0;
  /// The same of the last phase: the results for `noisy`, the slices from `z` on, are written to
  /// `clean`, frames of acquire(), or will be. Planes without noise pass through.
  virtual void finish(int z, std::span<const Frame> noisy, std::span<const Frame> clean) = 0;
  /// Waits for the oldest result that was not waited for.
  virtual void await() {}
  /// Results of finish() that may be on their way while further slices come.
  [[nodiscard]] virtual int in_flight() const noexcept { return 0; }
  /// Layers that it would rather have at a time: more slices are in memory then, and come out
  /// later.
  [[nodiscard]] virtual int layers_at_a_time() const noexcept { return 1; }
};

/// A plane with noise, and what is worked on there. Axes shorter than a cube are continued.
struct PlanePlan {
  int plane = 0;
  VolumePlan volume;
};
[[nodiscard]] std::vector<PlanePlan> plan_planes(const Params& params, const FrameFormat& format);

}  // namespace lull::bm4d
