#pragma once
// Base class of sessions that process the slices of volumes. Frame::slice is the position of a
// slice in its volume, or -1 if unknown. A new volume begins at a slice whose position is known and
// does not follow the position of the previous slice.

#include <deque>
#include <optional>

#include "core/denoiser.h"
#include "core/frame_pool.h"

namespace lull {

/// The memory (host or GPU) from which a session accepts slices.
enum class SliceMemory { host, host_or_gpu };

class SliceSession : public Denoiser {
 public:
  std::optional<Frame> push(Frame noisy) final;
  std::optional<Frame> next() final;
  std::optional<Frame> drain() final;

 protected:
  SliceSession(const FrameFormat& format, SliceMemory memory, const ResultSamples& results)
      : format_(format), pool_(result_format(format, results)), memory_(memory) {}

  /// Returns whether the session returns slices unfiltered because it filters no plane.
  virtual bool passes() const = 0;
  /// push() calls this function when a volume begins with slice `z`. If only a part of a volume is
  /// available, `z` is the first slice of the part.
  virtual void begin_volume(int z) = 0;
  /// Adds the next slice of the volume.
  virtual void add(Frame noisy, int z) = 0;
  /// The base class calls this function at the end of a volume. The function must deliver all
  /// results before it returns.
  virtual void end_volume() = 0;

  /// Queues a result for the caller of the session. The derived class must deliver the results in
  /// the order of the slices.
  void deliver(Frame clean) { ready_.push_back(std::move(clean)); }
  const FrameFormat& format() const { return format_; }

 private:
  FrameFormat format_;
  FramePool pool_;  // for unfiltered results with other samples than the input
  SliceMemory memory_;
  bool open_ = false;   // a volume has begun
  int next_slice_ = 0;  // expected position of the next slice
  std::deque<Frame> ready_;
};

}  // namespace lull
