#pragma once
// What sessions over the slices of volumes have in common: where a volume begins and ends, and what
// comes out when. Frame::slice says where a slice lies; places that do not follow each other are
// those of another volume.

#include <deque>
#include <optional>

#include "core/denoiser.h"

namespace lull {

/// Where slices may lie that a session takes.
enum class SliceMemory { host, host_or_gpu };

class SliceSession : public Denoiser {
 public:
  std::optional<Frame> push(Frame noisy) final;
  std::optional<Frame> next() final;
  std::optional<Frame> drain() final;

 protected:
  explicit SliceSession(const FrameFormat& format, SliceMemory memory = SliceMemory::host)
      : format_(format), memory_(memory) {}

  /// Whether slices come out as they went in, for no plane is filtered.
  virtual bool passes() const = 0;
  /// A volume begins, or what is seen of it, with slice `z`.
  virtual void begin_volume(int z) = 0;
  /// Its next slice.
  virtual void add(Frame noisy, int z) = 0;
  /// There are no more; all that was added is delivered before this returns.
  virtual void end_volume() = 0;

  /// A result, in the order of the slices.
  void deliver(Frame clean) { ready_.push_back(std::move(clean)); }
  const FrameFormat& format() const { return format_; }

 private:
  FrameFormat format_;
  SliceMemory memory_;
  bool open_ = false;   // a volume is
  int next_slice_ = 0;  // the one that comes
  std::deque<Frame> ready_;
};

}  // namespace lull
