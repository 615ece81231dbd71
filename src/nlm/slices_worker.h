#pragma once
// The interface between the volume session of non-local means (open/) and its backends. The session
// schedules slices, and backends process the samples of slices.

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
  virtual ~SlicesWorker() = default;
  virtual SliceMemory memory() const { return SliceMemory::host; }
  /// Returns the maximum number of slices for one call of finish(). A large number is more
  /// efficient, but increases the latency.
  virtual int slices_at_a_time() const = 0;
  /// Begins a volume. If the session receives only a part of the volume, `z` is the first slice of
  /// the part. The caller must have waited for all previous results.
  virtual void begin(int z) = 0;
  /// Loads the next slice. The worker copies unfiltered planes to the result of the slice. If the
  /// slice is not wanted, the worker copies all planes.
  virtual void load(int z, PendingSlice& slice) = 0;
  /// Computes the results of the slices `span`. `available` contains the slices that exist. The
  /// caller must have loaded all available slices up to a distance of reach_slices() from `span`.
  virtual void finish(SliceSpan span, SliceSpan available, std::span<PendingSlice> slices) = 0;
  /// Returns the number of calls of finish() whose results may be incomplete at the same time. The
  /// session keeps `noisy` and `clean` of these calls valid until their results are complete.
  /// Before any other call, the session waits for all results.
  virtual int in_flight() const noexcept { return 0; }
  /// Waits for the results of the oldest call of finish() for which the session has not waited yet.
  virtual void await() {}
};

}  // namespace lull::nlm
