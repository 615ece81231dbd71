#pragma once
// The interface between the session for volumes (open/), which schedules slices, and the backends,
// which process the samples of slices.

#include <span>

#include "core/frame.h"
#include "core/slices.h"
#include "time/slice_session.h"

namespace lull::nlm {

/// A slice whose result has not been delivered yet.
struct PendingSlice {
  Frame noisy;
  Frame clean{};  // the result, once its memory is allocated
  bool is_wanted = true;
  // True if some samples were replaced because they are outside the range that filters accept
  // (float_guard.h).
  bool guarded = false;
};

class SlicesWorker {
 public:
  virtual ~SlicesWorker() = default;
  virtual SliceMemory memory() const { return SliceMemory::host; }
  /// Returns the maximum number of slices for one call of finish(). A large number is more
  /// efficient, but increases the latency.
  virtual int slices_at_a_time() const = 0;
  /// Begins a volume. If only a part of the volume is processed, `z` is the first slice of this
  /// part. The caller must have waited for all previous results.
  virtual void begin(int z) = 0;
  /// Loads the next slice. Planes that are not filtered, or all planes if the slice is not wanted,
  /// are copied to its result.
  virtual void load(int z, PendingSlice& slice) = 0;
  /// Computes the results of the next slices, whose indices are `span`. `available` contains the
  /// slices that exist. All available slices up to a distance of reach_slices() from `span` must
  /// have been loaded.
  virtual void finish(SliceSpan span, SliceSpan available, std::span<PendingSlice> slices) = 0;
  /// Returns the number of calls of finish() whose results may be incomplete at the same time. The
  /// session keeps `noisy` and `clean` of these calls valid until their results are complete.
  /// Before it calls another function, it waits for the results of all earlier calls.
  virtual int in_flight() const noexcept { return 0; }
  /// Waits for the results of the oldest call of finish() for which the session has not waited yet.
  virtual void await() {}
};

}  // namespace lull::nlm
