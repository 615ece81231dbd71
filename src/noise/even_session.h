#pragma once
// What sessions share that make noise even before a filter and bring its results back: each frame
// waits, beside what the filter sees of it, until its result is out.

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "core/denoiser.h"
#include "core/error.h"
#include "core/frame_pool.h"

namespace lull {

/// `Known`: what else has to be known of a frame on its way back.
template <class Known>
class EvenSession : public Denoiser {
 public:
  EvenSession(const FrameFormat& format, const FrameFormat& even, std::unique_ptr<Denoiser> filter)
      : pool_(format), even_pool_(even), filter_(std::move(filter)) {}

  int latency() const noexcept override { return filter_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != pool_.format())
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (noisy.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (its noise is made even on the CPU); decode it on the "
          "CPU");
    Inside& frame = inside_.emplace_back(Inside{std::move(noisy), even_pool_.acquire(), {}});
    frame.even.take_identity(frame.noisy);
    frame.even.likeness = frame.noisy.likeness;
    frame.even.aside = frame.noisy.aside;
    make_even(frame);
    return result(filter_->push(frame.even));
  }
  std::optional<Frame> next() override { return result(filter_->next()); }
  std::optional<Frame> drain() override { return result(filter_->drain()); }

 protected:
  /// A frame whose result is not out yet.
  struct Inside {
    Frame noisy, even;
    Known known;
  };

  /// Fills frame.even, which has the identity of frame.noisy, and frame.known.
  virtual void make_even(Inside& frame) = 0;
  /// The samples of `clean`, which has that identity too.
  virtual void bring_back(const Inside& frame, const Frame& filtered, Frame& clean) = 0;

  [[nodiscard]] Frame even_frame() { return even_pool_.acquire(); }

 private:
  std::optional<Frame> result(std::optional<Frame> filtered) {
    if (!filtered) return std::nullopt;
    if (inside_.empty()) throw InternalError("a filter gave back more frames than it got");
    const Inside frame = std::move(inside_.front());
    inside_.pop_front();
    Frame clean = pool_.acquire();
    clean.take_identity(frame.noisy);
    bring_back(frame, *filtered, clean);
    return clean;
  }

  FramePool pool_, even_pool_;
  std::unique_ptr<Denoiser> filter_;
  std::deque<Inside> inside_;
};

}  // namespace lull
