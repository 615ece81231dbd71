#include "time/host_motion.h"

#include <utility>

#include "time/frame_statistics.h"

namespace lull {

HostMotion::HostMotion(const FrameFormat& format, float main_sigma, int slots)
    : main_sigma_(main_sigma), format_(format), slots_(slots) {
  const int width = format.width / coarse, height = format.height / coarse;
  for (Slot& slot : slots_) {
    if (width >= prediction_block && height >= prediction_block)
      slot.coarse = BytePlane(width, height);
  }
}

void HostMotion::load(int at, const Frame& frame) {
  Slot& slot = slots_[at];
  release(at);
  if (free_.empty()) free_.emplace_back(format_.width, format_.height);
  slot.bytes = std::move(free_.back());
  free_.pop_back();
  to_bytes(frame, slot.bytes.view());
  make_coarse(slot.bytes.view(), slot.coarse.view());
  for (std::vector<Motion>& cells : slot.cells.values) cells.clear();
}

void HostMotion::release(int at) {
  BytePlane& bytes = slots_[at].bytes;
  if (bytes.view().data != nullptr) free_.push_back(std::exchange(bytes, {}));
}

PredictionCost HostMotion::prediction(int slot, int earlier) const {
  return prediction_of(slots_[slot].coarse.view(), slots_[earlier].coarse.view(),
                       coarse_noise(main_sigma_));
}

const std::vector<Motion>& HostMotion::cells(int from, int to, int offset) {
  std::vector<Motion>& cells = slots_[from].cells[offset];
  if (cells.empty()) find_motion(slots_[from].main(), slots_[to].main(), main_sigma_, cells);
  return cells;
}

}  // namespace lull
