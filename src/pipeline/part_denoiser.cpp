#include "pipeline/part_denoiser.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

namespace lull::pipeline {
namespace {

/// What the sessions see.
std::vector<FrameSpan> widened(const std::vector<FrameSpan>& wanted, int margin) {
  constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
  std::vector<FrameSpan> result;
  for (const FrameSpan& span : wanted) {
    const FrameSpan wide{std::max<std::int64_t>(span.first - margin, 0),
                         span.last > end - margin ? end : span.last + margin};
    if (!result.empty() && wide.first <= result.back().last) {
      result.back().last = wide.last;
    } else {
      result.push_back(wide);
    }
  }
  return result;
}

class PartDenoiser final : public Denoiser {
 public:
  PartDenoiser(std::unique_ptr<Denoiser> session, SessionOpener reopen,
               std::vector<FrameSpan> spans)
      : session_(std::move(session)),
        latency_(session_->latency()),
        reopen_(std::move(reopen)),
        spans_(std::move(spans)) {}

  int latency() const noexcept override { return latency_; }

  std::optional<Frame> push(Frame frame) override {
    const std::int64_t number = frames_++;
    while (at_ < spans_.size() && number > spans_[at_].last) {
      ++at_;
      end_session();
    }
    if (at_ == spans_.size() || number < spans_[at_].first) {
      frame.pixels.reset();
      frame.planes = {};
      frame.on_device.reset();
      ready_.push_back(std::move(frame));
    } else {
      if (!session_) session_ = reopen_();
      if (std::optional<Frame> result = session_->push(std::move(frame)))
        ready_.push_back(*std::move(result));
    }
    return next();
  }

  std::optional<Frame> drain() override {
    if (std::optional<Frame> frame = next()) return frame;
    return session_ ? session_->drain() : std::nullopt;
  }

 private:
  std::optional<Frame> next() {
    if (ready_.empty()) return std::nullopt;
    Frame frame = std::move(ready_.front());
    ready_.pop_front();
    return frame;
  }

  void end_session() {
    while (std::optional<Frame> frame = session_->drain()) ready_.push_back(*std::move(frame));
    session_.reset();
  }

  std::unique_ptr<Denoiser> session_;  // of the next span, or the one that frames are in
  int latency_;
  SessionOpener reopen_;
  std::vector<FrameSpan> spans_;
  std::size_t at_ = 0;       // those before are over
  std::int64_t frames_ = 0;  // that came in
  std::deque<Frame> ready_;  // no more than the latency of a session, and one
};

}  // namespace

std::unique_ptr<Denoiser> by_parts(std::unique_ptr<Denoiser> session, SessionOpener reopen,
                                   const std::vector<FrameSpan>& wanted, int margin) {
  return std::make_unique<PartDenoiser>(std::move(session), std::move(reopen),
                                        widened(wanted, margin));
}

}  // namespace lull::pipeline
