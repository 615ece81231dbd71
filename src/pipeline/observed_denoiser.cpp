#include "pipeline/observed_denoiser.h"

#include <deque>
#include <utility>

#include "core/error.h"

namespace lull::pipeline {
namespace {

class ObservedDenoiser final : public Denoiser {
 public:
  ObservedDenoiser(std::unique_ptr<Denoiser> denoiser, Observer observer, Shown which)
      : denoiser_(std::move(denoiser)), observer_(std::move(observer)), which_(which) {}

  int latency() const noexcept override { return denoiser_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (it is compared with its result in the host's memory); "
          "decode it on the CPU");
    inside_.push_back(noisy);
    return shown(denoiser_->push(std::move(noisy)));
  }
  std::optional<Frame> next() override { return shown(denoiser_->next()); }
  std::optional<Frame> drain() override { return shown(denoiser_->drain()); }

 private:
  std::optional<Frame> shown(std::optional<Frame> result) {
    if (!result) return result;
    if (inside_.empty()) throw InternalError("a session gave back more frames than it had");
    if (result->pixels || which_ == Shown::all) observer_(inside_.front(), *result);
    inside_.pop_front();
    return result;
  }

  std::unique_ptr<Denoiser> denoiser_;
  Observer observer_;
  Shown which_;
  std::deque<Frame> inside_;
};

}  // namespace

std::unique_ptr<Denoiser> observed(std::unique_ptr<Denoiser> denoiser, Observer observer,
                                   Shown which) {
  return std::make_unique<ObservedDenoiser>(std::move(denoiser), std::move(observer), which);
}

}  // namespace lull::pipeline
