#pragma once
// The guide of a frame on its way to a GPU.

#include <optional>

#include "bm3d/cuda/phases.h"
#include "bm3d/stabilisers.h"
#include "cuda/raw_frame.h"
#include "match/frame_guide.h"

namespace lull::bm3d {

class GuideFrame {
 public:
  explicit GuideFrame(const Params& params)
      : levels_(params.noise.levels_in_samples()),
        // (A guide goes forward only, which is the same for every layout.)
        stabilisers_(stabilisers_of(params, Layout::gray)) {}

  /// Queues the samples of the guide of `frame`, which must stay until that is done. Their kind may
  /// be another than the frame's.
  /// @throws InvalidArgument as guide_of()
  void bring(const Frame& frame, cudaStream_t stream) {
    const Frame& guide = guide_of(frame);
    if (!raw_ || format_ != guide.format) {
      cuda::check(cudaDeviceSynchronize());  // kernels may read the one before
      raw_.emplace(guide.format, stream, levels_, curves_of(stabilisers_));
      format_ = guide.format;
    }
    raw_->bring(guide, stream);
  }

  const RawFrame& raw() const { return *raw_; }
  const FrameFormat& format() const { return format_; }

 private:
  std::array<float, max_planes> levels_;
  Stabilisers stabilisers_;
  FrameFormat format_;
  std::optional<RawFrame> raw_;  // none before the first
};

}  // namespace lull::bm3d
