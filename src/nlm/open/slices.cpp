// Sessions over the slices of volumes: a slice is estimated as soon as those are there that its
// result depends on.

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "nlm/open/sessions.h"
#include "time/slice_session.h"

namespace lull::nlm {
namespace {

bool is_all_outside(const SliceMask& mask) {
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x)
      if (mask.inside(x, y)) return false;
  return true;
}

class SlicesSession final : public SliceSession {
 public:
  SlicesSession(const Params& params, const FrameFormat& format,
                std::unique_ptr<SlicesWorker> worker)
      : SliceSession(format, worker->memory()),
        worker_(std::move(worker)),
        together_(worker_->slices_at_a_time()) {
    for (int i = 0; i < format.planes(); ++i) filters_any_ |= params.noise.sigma(i) > 0;
    if (filters_any_) reach_ = params.reach_slices();
  }

  int latency() const noexcept override {
    return passes() ? 0 : reach_ + together_ * (1 + worker_->in_flight()) - 1;
  }

 protected:
  bool passes() const override { return !filters_any_ && worker_->memory() == SliceMemory::host; }

  void begin_volume(int z) override {
    there_ = {z, z};
    worker_->begin(z);
  }

  void add(Frame noisy, int z) override {
    const bool is_wanted =
        noisy.aside == 0 && !noisy.outside && !(noisy.mask && is_all_outside(*noisy.mask));
    inside_.push_back({.noisy = std::move(noisy), .is_wanted = is_wanted});
    worker_->load(z, inside_.back());
    there_.end = z + 1;
    while (first_inside() + together_ + reach_ <= there_.end) finish(together_);
  }

  void end_volume() override {
    while (!inside_.empty()) finish(std::min(together_, static_cast<int>(inside_.size())));
    await(0);
  }

 private:
  using Batch = std::vector<SliceInWork>;

  /// The place of the first of inside_.
  int first_inside() const { return there_.end - static_cast<int>(inside_.size()); }

  /// The next `count` slices.
  void finish(int count) {
    const SliceSpan span{first_inside(), first_inside() + count};
    const auto end = inside_.begin() + count;
    Batch& batch =
        written_.emplace_back(std::move_iterator(inside_.begin()), std::move_iterator(end));
    inside_.erase(inside_.begin(), end);
    worker_->finish(span, there_, batch);
    await(worker_->in_flight());
  }

  /// Until the results of no more than so many batches are on their way.
  void await(int in_flight) {
    while (static_cast<int>(written_.size()) > in_flight) {
      worker_->await();
      for (SliceInWork& slice : written_.front()) {
        slice.clean.take_identity(slice.noisy);
        deliver(std::move(slice.clean));
      }
      written_.pop_front();
    }
  }

  std::unique_ptr<SlicesWorker> worker_;
  int together_;  // slices that are estimated at a time
  int reach_ = 0;
  bool filters_any_ = false;
  SliceSpan there_;                 // of this volume, so far
  std::deque<SliceInWork> inside_;  // slices that are not finished
  std::deque<Batch> written_;       // whose results may be on their way
};

}  // namespace

std::unique_ptr<Denoiser> open_slices(const Params& params, const FrameFormat& format,
                                      std::unique_ptr<SlicesWorker> worker) {
  return std::make_unique<SlicesSession>(params, format, std::move(worker));
}

}  // namespace lull::nlm
