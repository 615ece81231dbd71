#pragma once
// The interface between the BM4D session (open/volume_session.h) and its backends. The session
// decides the order of the work, and a backend processes samples.

#include <memory>
#include <span>
#include <vector>

#include "bm4d/volume_engine.h"
#include "core/frame.h"

namespace lull::bm4d {

/// Processes volumes slice by slice. Before a call of filter(), the session loads all slices within
/// the search windows. After the last call of filter() that adds estimates to a slice, the session
/// finishes the slice.
class VolumeWorker {
 public:
  /// Waits until the backend no longer reads the loaded slices.
  virtual ~VolumeWorker() = default;
  /// Begins a volume. `z` is the first slice that the session receives.
  virtual void begin(int z) = 0;
  /// Loads a slice. The samples of `slice` must remain valid until the session has waited for the
  /// result of the slice.
  virtual void load(int z, const Frame& slice) = 0;
  /// Matches and filters the groups of reference cubes, and aggregates their estimates.
  virtual void filter(const Layers& layers) = 0;
  /// Computes the basic estimate of `slices`. Voxels without an estimate get the noisy value.
  virtual void finish_basic(SliceSpan slices) = 0;
  /// Returns a frame for a result, in the memory (host or GPU) in which the session returns
  /// results.
  [[nodiscard]] virtual Frame acquire() = 0;
  /// Begins to write the results of consecutive slices to the frames `clean`, which come from
  /// acquire(). The results may become complete after the function returns. Voxels without an
  /// estimate get the noisy value.
  /// @param noisy  the same slices before filtering
  /// @param z  the index of the first slice
  virtual void finish(int z, std::span<const Frame> noisy, std::span<const Frame> clean) = 0;
  /// Waits until the next result is complete. The results become complete in the order of the
  /// slices, and each call waits for one of them.
  virtual void await() {}
  /// Returns the maximum number of results that may be incomplete after finish(), while the session
  /// loads further slices.
  [[nodiscard]] virtual int in_flight() const noexcept { return 0; }
  /// Returns the preferred number of layers (reference cubes with the same z position) to filter
  /// together. A larger number needs more memory and increases the latency.
  [[nodiscard]] virtual int layers_at_a_time() const noexcept { return 1; }
};

/// A plane with noise and the size of its volume. The session extends axes shorter than a cube by
/// mirroring.
struct PlanePlan {
  int plane = 0;
  VolumePlan volume;
};
[[nodiscard]] std::vector<PlanePlan> plan_planes(const Params& params, const FrameFormat& format);

}  // namespace lull::bm4d
