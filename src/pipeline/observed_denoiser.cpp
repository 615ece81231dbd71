#include "pipeline/observed_denoiser.h"

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"

namespace lull::pipeline {
namespace {

class ObservedDenoiser final : public Denoiser {
 public:
  ObservedDenoiser(std::unique_ptr<Denoiser> denoiser, Observer observer, ObservedFrames which)
      : denoiser_(std::move(denoiser)), observer_(std::move(observer)), which_(which) {}

  int latency() const noexcept override { return denoiser_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (it is compared with its result in host memory); "
          "decode it on the CPU");
    pending_.push_back(noisy);
    return notify_observer(denoiser_->push(std::move(noisy)));
  }
  std::optional<Frame> next() override { return notify_observer(denoiser_->next()); }
  std::optional<Frame> drain() override { return notify_observer(denoiser_->drain()); }

 private:
  std::optional<Frame> notify_observer(std::optional<Frame> result) {
    if (!result) return result;
    if (pending_.empty()) throw InternalError("a session returned more frames than were pushed");
    if (result->pixels || which_ == ObservedFrames::all) observer_(pending_.front(), *result);
    pending_.pop_front();
    return result;
  }

  std::unique_ptr<Denoiser> denoiser_;
  Observer observer_;
  ObservedFrames which_;
  std::deque<Frame> pending_;
};

}  // namespace

Observer in_input_samples(Observer observer) {
  auto pool =
      // All copies of the observer share one pool, because an Observer must be copyable and a
      // FramePool is not.
      std::make_shared<std::optional<FramePool>>();
  return [observer = std::move(observer), pool](const Frame& noisy, const Frame& result) {
    if (!result.pixels || have_equal_samples(noisy.format, result.format))
      return observer(noisy, result);
    if (!*pool) pool->emplace(noisy.format);
    observer(noisy, copied(result, **pool));
  };
}

std::unique_ptr<Denoiser> observed(std::unique_ptr<Denoiser> denoiser, Observer observer,
                                   ObservedFrames which) {
  return std::make_unique<ObservedDenoiser>(std::move(denoiser), std::move(observer), which);
}

}  // namespace lull::pipeline
