#include "time/slice_session.h"

#include <utility>

#include "core/error.h"
#include "core/samples.h"

namespace lull {

std::optional<Frame> SliceSession::push(Frame noisy) {
  if (noisy.format != format_)
    throw InvalidArgument(
        "a frame of another format (a session takes one format); open another session");
  if (noisy.on_device && memory_ == SliceMemory::host)
    throw InvalidArgument(
        "a slice in the memory of a GPU (this session accepts slices in host memory only); copy it "
        "to the host");
  if (passes()) return unfiltered(std::move(noisy), pool_);
  const int z = noisy.slice >= 0 ? noisy.slice : next_slice_;
  if (open_ && z != next_slice_) {
    end_volume();
    open_ = false;
  }
  if (!open_) begin_volume(z);
  open_ = true;
  next_slice_ = z + 1;
  add(std::move(noisy), z);
  return next();
}

std::optional<Frame> SliceSession::next() {
  if (ready_.empty()) return std::nullopt;
  Frame frame = std::move(ready_.front());
  ready_.pop_front();
  return frame;
}

std::optional<Frame> SliceSession::drain() {
  if (open_) end_volume();
  open_ = false;
  if (ready_.empty()) next_slice_ = 0;
  return next();
}

}  // namespace lull
