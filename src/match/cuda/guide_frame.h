#pragma once
// Uploads of a frame's guide, holes and variance stabilisation curves to a GPU.

#include <optional>

#include "cuda/raw_frame.h"
#include "match/frame_guide.h"
#include "noise/holes.h"
#include "noise/stabiliser.h"

namespace lull {

/// Returns the forward curves, inverse curves and clipping limits of the stabilisers, for the class
/// RawFrame.
inline std::array<CurvePair, max_planes> curves_of(const Stabilisers& stabilisers) {
  std::array<CurvePair, max_planes> curves;
  for (int i = 0; i < max_planes; ++i)
    if (const auto& stabiliser = stabilisers[i])
      curves[i] = {&stabiliser->forward(), &stabiliser->inverse(), stabiliser->clip_limits()};
  return curves;
}

/// The guide of a frame in device memory.
class GuideFrame {
 public:
  /// `levels` are the noise levels of the planes of the guide. `colour` is the colour space in
  /// which the matcher compares patches of RGB guides.
  GuideFrame(const std::array<float, max_planes>& levels, Stabilisers stabilisers, Colour colour)
      : levels_(levels), stabilisers_(std::move(stabilisers)), colour_(colour) {}

  /// Queues the upload of the guide of `frame`. The frame must remain valid until the upload is
  /// complete. The guide and the frame may have different sample formats.
  /// @throws InvalidArgument  like guide_of()
  void upload(const Frame& frame, cudaStream_t stream) {
    const Frame& guide = guide_of(frame);
    if (!raw_ || format_ != guide.format) {
      // The host waits for the device, because kernels may still read the previous guide.
      cuda::check(cudaDeviceSynchronize());
      raw_.emplace(colour_ == Colour::as_is ? without_colour_transform(guide.format) : guide.format,
                   stream, levels_, curves_of(stabilisers_));
      format_ = guide.format;
    }
    raw_->upload(guide, stream);
  }

  const RawFrame& raw() const { return *raw_; }
  const FrameFormat& format() const { return format_; }

 private:
  std::array<float, max_planes> levels_;
  Stabilisers stabilisers_;
  Colour colour_;
  FrameFormat format_;
  std::optional<RawFrame> raw_;  // empty until the first frame arrives
};

/// Uploads a mask, row by row: the positions at which a patch of `side` samples overlaps a hole
/// (Holes::reached()). If the frame has holes, the function waits for the stream.
inline void copy_reached(const Frame& frame, int side, std::uint8_t* places, cudaStream_t stream) {
  const Holes* const holes = holes_of(frame).get();
  const std::size_t size = static_cast<std::size_t>(frame.format.width) * frame.format.height;
  if (holes == nullptr) return cuda::check(cudaMemsetAsync(places, 0, size, stream));
  const std::vector<std::uint8_t> reached = holes->reached(side);
  cuda::check(cudaMemcpyAsync(places, reached.data(), size, cudaMemcpyHostToDevice, stream));
  // cudaMemcpyAsync() may return before CUDA has read `reached`, which is in pageable memory. The
  // function therefore waits, although most drivers read pageable memory before they return.
  cuda::check(cudaStreamSynchronize(stream));
}

}  // namespace lull
