#pragma once
// A frame's samples on a GPU as they are stored, between the host and the planes of floats that are
// filtered.

#include <algorithm>
#include <array>
#include <vector>

#include "core/frame.h"
#include "core/sample_curve.h"
#include "core/sample_ends.h"
#include "cuda/device_picture.h"
#include "cuda/device_planes.h"
#include "cuda/handles.h"
#include "cuda/staging.h"

namespace lull {

/// What becomes of a plane's samples on their way to floats and back; null: they stay as they are.
struct CurvePair {
  const SampleCurve *forward = nullptr, *inverse = nullptr;
  SampleEnds ends;  // of what the inverse gives
};

/// For frames whose planes are filtered as they are: RGB, too.
[[nodiscard]] inline FrameFormat planes_alone(FrameFormat format) {
  if (format.layout == Layout::rgb) format.layout = Layout::yuv;
  return format;
}

class RawFrame {
 public:
  /// `sigma`: of the noise in samples as they are stored; counts for floats, and says which of R, G
  /// and B pass through. `curves` are copied.
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  RawFrame(const FrameFormat& format, cudaStream_t stream,
           const std::array<float, max_planes>& sigma = {},
           const std::array<CurvePair, max_planes>& curves = {});

  /// Queues: the samples of `frame`, which must stay until that is done, from the host or a GPU.
  void bring(const Frame& frame, cudaStream_t stream);
  /// Queues: plane `i` to that of `frame`, in the host's memory or the GPU's.
  void take(int i, const Frame& frame, cudaStream_t stream) const;
  /// The same of the plane as it came with `noisy`, the frame that was brought last. (One that was
  /// not brought does if both are in the host's memory, between which nothing is queued.)
  void pass_through(int i, const Frame& noisy, const Frame& frame, cudaStream_t stream) const;
  /// Queues: all planes to floats, RGB in the opponent space; without that space, those that are
  /// given.
  void to_planes(const std::array<const Margins*, max_planes>& margins,
                 const std::array<float*, max_planes>& planes, cudaStream_t stream) const;
  /// The way back, of plane `i`; of all three for RGB.
  void from_plane(int i, const Margins& margins, const float* plane, cudaStream_t stream);
  void from_opponents(const Margins& margins, const Planes& planes, cudaStream_t stream);
  /// After that, of floats: what filters did not see of `original`, planes() of the same frame.
  void restore(const RawPlanes& original, cudaStream_t stream);

  /// As they came.
  const RawPlanes& planes() const noexcept { return planes_; }
  std::size_t plane_bytes(int i) const noexcept { return memory_[i].size(); }

 private:
  bool is_guarded() const { return format_.sample == SampleType::f32; }
  /// Results go beside the samples as they came: filters see others, or write all of R, G and B
  /// where some pass through.
  bool has_results_apart() const {
    return is_guarded() || (format_.layout == Layout::rgb && std::ranges::count(sigma_, 0.0f) > 0);
  }
  /// On the device; null stays null.
  const float* keep(const SampleCurve* curve, cudaStream_t stream);
  WayBack way_back(int i, const CurvePair& curves, cudaStream_t stream);

  FrameFormat format_;
  std::array<float, max_planes> sigma_;
  std::array<cuda::DeviceBuffer<std::byte>, max_planes> memory_, filtered_memory_;
  std::array<cuda::DeviceBuffer<CellSum>, max_planes> cells_;
  std::vector<cuda::DeviceBuffer<float>> curves_, tolls_;
  CurveTables forward_{};        // in curves_
  WaysBack back_{};              // in curves_, tolls_
  RawPlanes planes_, filtered_;  // as they came; what filters make, and see of floats
  cuda::Staging staging_;
  DevicePictureReader device_pictures_;
};

}  // namespace lull
