#pragma once
// The interface between the BM4D session and its backends. The session (open/volume_session.h)
// schedules slices and layers, and the backends process samples.

#include <memory>
#include <span>
#include <vector>

#include "bm4d/volume_engine.h"
#include "core/frame.h"

namespace lull::bm4d {

/// Processes volumes slice by slice, with all planes that have noise. Slices and layers ascend
/// along z. The session loads all slices of a layer before it filters the layer. The session
/// finishes a slice when no later layer adds estimates to the slice. The worker may then release
/// all earlier slices.
class VolumeWorker {
 public:
  virtual ~VolumeWorker() = default;
  /// Begins a volume. If the session receives only a part of the volume, `z` is the first slice of
  /// the part.
  virtual void begin(int z) = 0;
  /// Loads a slice. The samples of the slice must remain valid until the session has waited for the
  /// result of the slice.
  virtual void load(int z, const Frame& slice) = 0;
  /// Matches and filters the groups of reference cubes, and aggregates their estimates.
  virtual void filter(const Layers& layers) = 0;
  /// Computes the basic estimate of `slices`. Voxels without an estimate get the noisy value.
  virtual void finish_basic(SliceSpan slices) = 0;
  /// Returns a frame for a result, in the memory (host or GPU) in which the worker stores results.
  [[nodiscard]] virtual Frame acquire() = 0;
  /// Writes the results of the last phase for the slices `noisy` to `clean`. The function acquire()
  /// has returned the frames `clean`. noisy[0] is slice `z` of the volume. The function may return
  /// before the results are complete. Voxels without an estimate get the noisy value. The worker
  /// copies planes without noise.
  virtual void finish(int z, std::span<const Frame> noisy, std::span<const Frame> clean) = 0;
  /// Waits until the worker has completed the oldest result for which the caller has not waited
  /// yet.
  virtual void await() {}
  /// Returns the number of results of finish() that the worker may compute while the session loads
  /// further slices.
  [[nodiscard]] virtual int in_flight() const noexcept { return 0; }
  /// Returns the preferred number of layers to filter together. A larger number needs more memory
  /// and increases the latency.
  [[nodiscard]] virtual int layers_at_a_time() const noexcept { return 1; }
};

/// A plane with noise and the size of its volume. If an axis is shorter than a cube, the mirror
/// image of the volume extends the axis.
struct PlanePlan {
  int plane = 0;
  VolumePlan volume;
};
[[nodiscard]] std::vector<PlanePlan> plan_planes(const Params& params, const FrameFormat& format);

}  // namespace lull::bm4d
