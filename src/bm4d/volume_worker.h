#pragma once
// The interface between the session over slices (open/volume_session.h), which schedules slices and
// layers, and the backends, which process samples.

#include <memory>
#include <span>
#include <vector>

#include "bm4d/volume_engine.h"
#include "core/frame.h"

namespace lull::bm4d {

/// Processes volumes slice by slice, with all planes that have noise. Slices and layers ascend
/// along z. The session loads a slice before it filters the layers that use it, and finishes a
/// slice when no later layer reaches it. The worker may then release all slices before it.
class VolumeWorker {
 public:
  virtual ~VolumeWorker() = default;
  /// Begins a volume. If the session gets only a part of the volume, `z` is the first slice of this
  /// part.
  virtual void begin(int z) = 0;
  /// Loads a slice. The samples of the slice must remain valid until the session has waited for the
  /// result of the slice.
  virtual void load(int z, const Frame& slice) = 0;
  /// Matches and filters the groups of reference cubes, and aggregates their estimates.
  virtual void filter(const Layers& layers) = 0;
  /// Computes the basic estimate of `slices`. Voxels without an estimate get the noisy value.
  virtual void finish_basic(SliceSpan slices) = 0;
  /// Returns a frame for a result, in the kind of memory (host or GPU) in which this worker stores
  /// results.
  [[nodiscard]] virtual Frame acquire() = 0;
  /// Writes the results of the last phase for the slices `noisy` to the frames `clean`, which come
  /// from acquire(). noisy[0] is slice `z` of the volume. The function may return before this work
  /// is complete. Voxels without an estimate get the noisy value. Planes without noise are copied.
  virtual void finish(int z, std::span<const Frame> noisy, std::span<const Frame> clean) = 0;
  /// Waits for the oldest result for which the caller has not waited yet.
  virtual void await() {}
  /// Returns the number of results of finish() that may be in flight while the session loads
  /// further slices.
  [[nodiscard]] virtual int in_flight() const noexcept { return 0; }
  /// Returns the preferred number of layers to filter together. More layers increase the number of
  /// slices in memory and the latency.
  [[nodiscard]] virtual int layers_at_a_time() const noexcept { return 1; }
};

/// A plane with noise, and the volume that its slices form. If an axis is shorter than a cube, the
/// volume is extended by its mirror image.
struct PlanePlan {
  int plane = 0;
  VolumePlan volume;
};
[[nodiscard]] std::vector<PlanePlan> plan_planes(const Params& params, const FrameFormat& format);

}  // namespace lull::bm4d
