#pragma once
// The interface between the volume session of non-local means (open/), which schedules slices, and
// its backends, which process samples.

#include <span>

#include "core/frame.h"
#include "core/slices.h"
#include "time/slice_session.h"

namespace lull::nlm {

/// A slice whose result the session has not returned yet.
struct PendingSlice {
  Frame noisy;
  Frame clean{};  // the result, once its memory is allocated
  bool is_wanted = true;
  // True if the worker replaced out-of-range samples of the slice (float_guard.h).
  bool guarded = false;
};

class SlicesWorker {
 public:
  /// Waits until the backend no longer reads the loaded slices.
  virtual ~SlicesWorker() = default;
  virtual SliceMemory memory() const { return SliceMemory::host; }
  /// Returns the maximum number of slices per call of finish(). More slices per call are more
  /// efficient, but increase the latency.
  virtual int slices_at_a_time() const = 0;
  /// Begins a volume. `z` is the first slice that the session receives. All previous results must
  /// be complete.
  virtual void begin(int z) = 0;
  /// Loads the next slice. The worker does not filter planes without noise, and filters no plane if
  /// PendingSlice::is_wanted is false. load() or finish() copies unfiltered planes to
  /// PendingSlice::clean.
  virtual void load(int z, PendingSlice& slice) = 0;
  /// Computes the results of the slices `span`. `available` contains the slices that exist. The
  /// results depend on slices up to Params::reach_slices() before and after `span`. The caller must
  /// have loaded all of these slices that are available.
  virtual void finish(SliceSpan span, SliceSpan available, std::span<PendingSlice> slices) = 0;
  /// Returns the maximum number of calls of finish() whose results may be incomplete while the
  /// session loads further slices. Before the session calls begin(), it waits for all results.
  virtual int in_flight() const noexcept { return 0; }
  /// Waits for the results of the oldest incomplete call of finish().
  virtual void await() {}
};

}  // namespace lull::nlm
