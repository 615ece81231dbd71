// Sessions of non-local means for volumes, which filter a slice as soon as they have loaded all
// slices on which its result depends.

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
                std::unique_ptr<SlicesWorker> worker, const ResultSamples& results)
      : SliceSession(format, worker->memory(), results),
        worker_(std::move(worker)),
        batch_size_(worker_->slices_at_a_time()) {
    for (int i = 0; i < format.planes(); ++i) filters_any_ |= params.noise.sigma(i) > 0;
    if (filters_any_) reach_ = params.reach_slices();
  }

  // Destroys the worker first, because the GPU may still read the slices in pending_ and
  // in_flight_. The destructor of the worker waits for the GPU.
  ~SlicesSession() override { worker_.reset(); }

  int latency() const noexcept override {
    return passes() ? 0 : reach_ + batch_size_ * (1 + worker_->in_flight()) - 1;
  }

 protected:
  bool passes() const override { return !filters_any_ && worker_->memory() == SliceMemory::host; }

  void begin_volume(int z) override {
    available_ = {z, z};
    worker_->begin(z);
  }

  void add(Frame noisy, int z) override {
    const bool is_wanted = noisy.context_distance == 0 && !noisy.context_only &&
                           !(noisy.mask && is_all_outside(*noisy.mask));
    pending_.push_back({.noisy = std::move(noisy), .is_wanted = is_wanted});
    worker_->load(z, pending_.back());
    available_.end = z + 1;
    while (first_pending() + batch_size_ + reach_ <= available_.end) finish(batch_size_);
  }

  void end_volume() override {
    while (!pending_.empty()) finish(std::min(batch_size_, static_cast<int>(pending_.size())));
    await(0);
  }

 private:
  using Batch = std::vector<PendingSlice>;

  /// Returns the index of the oldest slice whose result the session has not returned yet.
  int first_pending() const { return available_.end - static_cast<int>(pending_.size()); }

  /// Filters the next `count` slices.
  void finish(int count) {
    const SliceSpan span{first_pending(), first_pending() + count};
    const auto end = pending_.begin() + count;
    Batch& batch =
        in_flight_.emplace_back(std::move_iterator(pending_.begin()), std::move_iterator(end));
    pending_.erase(pending_.begin(), end);
    worker_->finish(span, available_, batch);
    await(worker_->in_flight());
  }

  /// Waits for the oldest batches and returns their results. At most `in_flight` batches remain
  /// incomplete.
  void await(int in_flight) {
    while (static_cast<int>(in_flight_.size()) > in_flight) {
      worker_->await();
      for (PendingSlice& slice : in_flight_.front()) {
        slice.clean.copy_info(slice.noisy);
        deliver(std::move(slice.clean));
      }
      in_flight_.pop_front();
    }
  }

  std::unique_ptr<SlicesWorker> worker_;
  int batch_size_;  // maximum number of slices per call of finish()
  int reach_ = 0;
  bool filters_any_ = false;
  SliceSpan available_;               // the slices of this volume that the session has received
  std::deque<PendingSlice> pending_;  // slices that are not filtered yet
  std::deque<Batch> in_flight_;       // batches whose results may be in flight
};

}  // namespace

std::unique_ptr<Denoiser> open_slices(const Params& params, const FrameFormat& format,
                                      std::unique_ptr<SlicesWorker> worker,
                                      const ResultSamples& results) {
  return std::make_unique<SlicesSession>(params, format, std::move(worker), results);
}

}  // namespace lull::nlm
