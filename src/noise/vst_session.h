#pragma once
// Base class of sessions with a variance-stabilising transform (VST) before a filter and its
// inverse after the filter. The session stores frames until the filter returns their results.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "core/denoiser.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"

namespace lull {

/// `InverseData` is additional data of a frame for the inverse transform.
template <class InverseData>
class VstSession : public Denoiser {
 public:
  VstSession(const FrameFormat& format, const FrameFormat& stabilised,
             std::unique_ptr<Denoiser> filter, const ResultSamples& results = {})
      : format_(format),
        pool_(result_format(format, results)),
        stabilised_pool_(stabilised),
        filter_(std::move(filter)) {}

  int latency() const noexcept override { return filter_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (noisy.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (its variance is stabilised on the CPU); decode it on "
          "the "
          "CPU");
    PendingFrame& frame =
        pending_.emplace_back(PendingFrame{std::move(noisy), stabilised_pool_.acquire(), {}});
    frame.stabilised.copy_info(frame.noisy);
    stabilise(frame);
    return result(filter_->push(frame.stabilised));
  }
  std::optional<Frame> next() override { return result(filter_->next()); }
  std::optional<Frame> drain() override { return result(filter_->drain()); }

 protected:
  /// A frame whose result the filter has not returned yet.
  struct PendingFrame {
    Frame noisy, stabilised;
    InverseData inverse_data;
  };

  /// Computes the samples of `frame.stabilised`, and sets `frame.inverse_data`. All other
  /// properties of `frame.stabilised` (FrameInfo) already have their values.
  virtual void stabilise(PendingFrame& frame) = 0;
  /// Computes the samples of `clean` from the filter's result. All other properties of `clean`
  /// (FrameInfo) already have their values.
  virtual void invert(const PendingFrame& frame, const Frame& filtered, Frame& clean) = 0;

  /// Where the filter did not change the stabilised samples of a grey frame, copies the noisy
  /// samples to `clean`, because a conversion back would add rounding errors.
  void restore_unfiltered(const PendingFrame& frame, PlaneView<const float> filtered,
                          const Frame& clean) {
    const Frame noisy = unfiltered(frame.noisy, results());
    const int bytes = clean.format.bytes_per_sample();
    const PlaneView<const float> stabilised = frame.stabilised.template plane<float>(0);
    for (int y = 0; y < stabilised.height; ++y)
      for (int x = 0; x < stabilised.width; ++x)
        if (std::bit_cast<std::uint32_t>(stabilised(x, y)) ==
            std::bit_cast<std::uint32_t>(filtered(x, y)))
          std::copy_n(noisy.planes[0].row(y) + x * bytes, bytes,
                      clean.planes[0].row(y) + x * bytes);
  }

  [[nodiscard]] Frame acquire_stabilised() { return stabilised_pool_.acquire(); }
  [[nodiscard]] FramePool& results() { return pool_; }

 private:
  std::optional<Frame> result(std::optional<Frame> filtered) {
    if (!filtered) return std::nullopt;
    if (pending_.empty()) throw InternalError("a filter returned more frames than it received");
    const PendingFrame frame = std::move(pending_.front());
    pending_.pop_front();
    Frame clean = pool_.acquire();
    clean.copy_info(frame.noisy);
    invert(frame, *filtered, clean);
    return clean;
  }

  FrameFormat format_;
  FramePool pool_, stabilised_pool_;
  std::unique_ptr<Denoiser> filter_;
  std::deque<PendingFrame> pending_;
};

}  // namespace lull
