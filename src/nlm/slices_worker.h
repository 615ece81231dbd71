#pragma once
// The seam between the session over slices (open/), which knows what comes when, and the backends,
// which have their samples.

#include <span>

#include "core/frame.h"
#include "core/slices.h"
#include "time/slice_session.h"

namespace lull::nlm {

/// A slice whose result is not out yet.
struct SliceInWork {
  Frame noisy;
  Frame clean{};  // the result, once it has memory
  bool is_wanted = true;
  bool guarded = false;  // filters do not see all samples as they are (float_guard.h)
};

class SlicesWorker {
 public:
  virtual ~SlicesWorker() = default;
  virtual SliceMemory memory() const { return SliceMemory::host; }
  /// Slices that finish() takes at most, but for their places the more the better.
  virtual int slices_at_a_time() const = 0;
  /// A volume begins, or what is seen of it, with slice `z`. Everything was awaited.
  virtual void begin(int z) = 0;
  /// Takes the next slice. Its result gets the planes that pass through: all, if it is not wanted.
  virtual void load(int z, SliceInWork& slice) = 0;
  /// The results of the next slices, whose places are `span`. `there`: the slices that exist, of
  /// which those up to reach_slices() from these are loaded.
  virtual void finish(SliceSpan span, SliceSpan there, std::span<SliceInWork> slices) = 0;
  /// Calls of finish() whose results may be still on their way; those of the others are awaited
  /// before anything else is asked for. `noisy` and `clean` stay until then.
  virtual int in_flight() const noexcept { return 0; }
  /// Waits for the results of the oldest finish() that was not waited for.
  virtual void await() {}
};

}  // namespace lull::nlm
