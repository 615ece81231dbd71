#include "pipeline/scene_denoiser.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

namespace lull::pipeline {
namespace {

class SceneDenoiser final : public Denoiser {
 public:
  SceneDenoiser(std::unique_ptr<Denoiser> first, SceneFinder find, SceneOpener open)
      : session_(std::move(first)), find_(std::move(find)), open_(std::move(open)) {}

  int latency() const noexcept override { return session_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    if (const std::size_t scene = scene_of(noisy); scene != scene_) change_to(scene);
    if (auto ready = session_->push(std::move(noisy))) ready_.push_back(*std::move(ready));
    return next();
  }

  std::optional<Frame> next() override {
    while (auto more = session_->next()) ready_.push_back(*std::move(more));
    return take_ready();
  }

  std::optional<Frame> drain() override {
    if (ready_.empty())
      if (auto rest = session_->drain()) ready_.push_back(*std::move(rest));
    return take_ready();
  }

 private:
  std::size_t scene_of(const Frame& frame) const {
    return frame.repeat_state == RepeatState::repeats ? scene_ : find_(frame);
  }

  void change_to(std::size_t scene) {
    while (auto rest = session_->drain()) ready_.push_back(*std::move(rest));
    session_.reset();  // frees its memory before the next session is opened
    session_ = open_(scene);
    scene_ = scene;
  }

  std::optional<Frame> take_ready() {
    if (ready_.empty()) return std::nullopt;
    Frame frame = std::move(ready_.front());
    ready_.pop_front();
    return frame;
  }

  std::unique_ptr<Denoiser> session_;
  std::size_t scene_ = 0;
  const SceneFinder find_;
  const SceneOpener open_;
  std::deque<Frame> ready_;
};

}  // namespace

std::size_t scene_at(const Frame& frame, std::span<const double> starts) {
  // Tolerance for start times in seconds, because containers round the times of frames.
  constexpr double rounding = 1e-4;
  const double time = static_cast<double>(frame.pts) * static_cast<double>(frame.time_base.num) /
                      static_cast<double>(std::max<std::int64_t>(frame.time_base.den, 1));
  return std::ranges::upper_bound(starts, time + rounding) - starts.begin();
}

std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first, SceneFinder find,
                                    SceneOpener open) {
  return std::make_unique<SceneDenoiser>(std::move(first), std::move(find), std::move(open));
}

std::unique_ptr<Denoiser> by_scenes(std::unique_ptr<Denoiser> first, std::vector<double> starts,
                                    SceneOpener open) {
  if (starts.empty()) return first;
  const auto find = [starts = std::move(starts)](const Frame& frame) {
    return scene_at(frame, starts);
  };
  return by_scenes(std::move(first), find, std::move(open));
}

}  // namespace lull::pipeline
