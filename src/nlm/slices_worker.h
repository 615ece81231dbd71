#pragma once
// The interface between the session over slices (open/), which schedules them, and the backends,
// which process their samples.

#include <span>

#include "core/frame.h"
#include "core/slices.h"
#include "time/slice_session.h"

namespace lull::nlm {

/// A slice whose result is not delivered yet.
struct PendingSlice {
  Frame noisy;
  Frame clean{};  // the result, once its memory is allocated
  bool is_wanted = true;
  // Some samples were replaced because they are out of the filters' range (float_guard.h).
  bool guarded = false;
};

class SlicesWorker {
 public:
  virtual ~SlicesWorker() = default;
  virtual SliceMemory memory() const { return SliceMemory::host; }
  /// Returns the maximum number of slices for finish(). More slices are more efficient, but
  /// increase the latency.
  virtual int slices_at_a_time() const = 0;
  /// Begins a volume, or a part of it, with slice `z`. All previous results were awaited.
  virtual void begin(int z) = 0;
  /// Loads the next slice. Its result gets the planes that pass through; these are all planes if
  /// the slice is not wanted.
  virtual void load(int z, PendingSlice& slice) = 0;
  /// Computes the results of the next slices, whose indices are `span`. `available`: the slices
  /// that exist; of these, slices up to reach_slices() from `span` are loaded.
  virtual void finish(SliceSpan span, SliceSpan available, std::span<PendingSlice> slices) = 0;
  /// Returns the number of calls of finish() whose results may still be in flight. The session
  /// awaits the results of earlier calls before any other call. `noisy` and `clean` stay valid
  /// until then.
  virtual int in_flight() const noexcept { return 0; }
  /// Waits for the results of the oldest call of finish() that was not awaited.
  virtual void await() {}
};

}  // namespace lull::nlm
