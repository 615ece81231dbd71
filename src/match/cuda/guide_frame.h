#pragma once
// What frames bring to a GPU beside their samples: guides, holes; and how their noise is made even.

#include <optional>

#include "cuda/raw_frame.h"
#include "match/frame_guide.h"
#include "noise/holes.h"
#include "noise/stabiliser.h"

namespace lull {

/// For RawFrame.
inline std::array<CurvePair, max_planes> curves_of(const Stabilisers& stabilisers) {
  std::array<CurvePair, max_planes> curves;
  for (int i = 0; i < max_planes; ++i)
    if (const auto& stabiliser = stabilisers[i])
      curves[i] = {&stabiliser->forward(), &stabiliser->inverse(), stabiliser->ends()};
  return curves;
}

/// The guide of a frame on its way.
class GuideFrame {
 public:
  /// `levels`: of the noise in samples as they are stored. `colour`: in which guides of RGB are
  /// compared. (They go forward only, in which stabilisers are the same for every layout.)
  GuideFrame(const std::array<float, max_planes>& levels, Stabilisers stabilisers, Colour colour)
      : levels_(levels), stabilisers_(std::move(stabilisers)), colour_(colour) {}

  /// Queues the samples of the guide of `frame`, which must stay until that is done. Their kind may
  /// be another than the frame's.
  /// @throws InvalidArgument as guide_of()
  void bring(const Frame& frame, cudaStream_t stream) {
    const Frame& guide = guide_of(frame);
    if (!raw_ || format_ != guide.format) {
      cuda::check(cudaDeviceSynchronize());  // kernels may read the one before
      raw_.emplace(colour_ == Colour::as_is ? planes_alone(guide.format) : guide.format, stream,
                   levels_, curves_of(stabilisers_));
      format_ = guide.format;
    }
    raw_->bring(guide, stream);
  }

  const RawFrame& raw() const { return *raw_; }
  const FrameFormat& format() const { return format_; }

 private:
  std::array<float, max_planes> levels_;
  Stabilisers stabilisers_;
  Colour colour_;
  FrameFormat format_;
  std::optional<RawFrame> raw_;  // none before the first
};

/// Queues Holes::reached() of a frame, for patches of `side` samples, row by row: nothing, where it
/// has none.
inline void copy_reached(const Frame& frame, int side, std::uint8_t* places, cudaStream_t stream) {
  const Holes* const holes = holes_of(frame).get();
  const std::size_t size = static_cast<std::size_t>(frame.format.width) * frame.format.height;
  if (holes == nullptr) return cuda::check(cudaMemsetAsync(places, 0, size, stream));
  // From memory that is not page-locked: it may go as soon as the call returns.
  const std::vector<std::uint8_t> reached = holes->reached(side);
  cuda::check(cudaMemcpyAsync(places, reached.data(), size, cudaMemcpyHostToDevice, stream));
}

}  // namespace lull
