#pragma once
// The stored samples of a frame in GPU memory, and their conversion to float planes.

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/clip_limits.h"
#include "core/frame.h"
#include "core/sample_curve.h"
#include "cuda/device_picture.h"
#include "cuda/device_planes.h"
#include "cuda/handles.h"
#include "cuda/staging.h"

namespace lull {

/// The curves of a plane. RawFrame applies the forward curve to samples after their conversion to
/// floats, and the inverse curve to results before their conversion to samples. If a pointer is
/// null, RawFrame applies no curve.
struct CurvePair {
  const SampleCurve *forward = nullptr, *inverse = nullptr;
  ClipLimits limits;  // limits of the output of `inverse`
};

/// Returns a format with which a session filters R, G and B without a colour transform: a copy of
/// `format` with the layout YUV, and with the scale of luma for all planes. Formats other than RGB
/// remain unchanged.
[[nodiscard]] inline FrameFormat without_colour_transform(FrameFormat format) {
  if (format.layout != Layout::rgb) return format;
  format.layout = Layout::yuv;
  format.chroma_scale = format.luma_scale;
  return format;
}

class RawFrame {
 public:
  /// `sigma` contains the noise levels of the stored planes. From these levels, core/float_range.h
  /// computes which float samples are out of range. The noise level 0 means that the session does
  /// not filter this plane of an RGB frame. The constructor copies `curves`. `results` is the
  /// format of the results, by default `format`.
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  RawFrame(const FrameFormat& format, cudaStream_t stream,
           const std::array<float, max_planes>& sigma = {},
           const std::array<CurvePair, max_planes>& curves = {},
           const std::optional<FrameFormat>& results = std::nullopt);

  /// Queues the upload of the samples of `frame`, from host or GPU memory. `frame` must remain
  /// valid until the upload is complete.
  void upload(const Frame& frame, cudaStream_t stream);
  /// Queues a copy from plane `i` of the results to plane `i` of `frame`, which is in host or GPU
  /// memory.
  void download(int i, const Frame& frame, cudaStream_t stream) const;
  /// Copies plane `i` of the unfiltered frame `noisy` to the result `frame`. If `frame` is in host
  /// memory, the function copies immediately. If `frame` is in GPU memory, the function queues the
  /// copy, and `noisy` must be the most recently uploaded frame.
  void pass_through(int i, const Frame& noisy, const Frame& frame, cudaStream_t stream) const;
  /// Queues the conversion of the samples to floats, and of RGB to the opponent colour space. In
  /// formats other than RGB, the function skips planes with a null pointer in `planes`.
  void to_planes(const std::array<const Margins*, max_planes>& margins,
                 const std::array<float*, max_planes>& planes, cudaStream_t stream) const;
  /// Queues the conversion of the floats of plane `i` to stored samples.
  void from_plane(int i, const Margins& margins, const float* plane, cudaStream_t stream);
  /// Queues the conversion of opponent planes to the stored samples of all three planes of RGB.
  void from_opponents(const Margins& margins, const Planes& planes, cudaStream_t stream);
  /// Restores out-of-range float samples in the results, after from_plane() or from_opponents().
  /// `original` contains the samples before the filter.
  void restore(const RawPlanes& original, cudaStream_t stream);

  /// Returns the uploaded samples.
  const RawPlanes& planes() const noexcept { return planes_; }
  std::size_t plane_bytes(int i) const noexcept { return memory_[i].size(); }

 private:
  bool is_guarded() const { return format_.sample == SampleType::f32; }
  /// Returns whether the results need separate memory. The reason may be float samples, unfiltered
  /// planes of an RGB frame, or a format of the results that differs from the format of the frame.
  bool has_separate_results() const {
    return is_guarded() || results_ != format_ ||
           (format_.layout == Layout::rgb && std::ranges::count(sigma_, 0.0f) > 0);
  }
  /// Copies a curve to the device. Returns null for a null pointer.
  const float* upload_curve(const SampleCurve* curve, cudaStream_t stream);
  OutputTransform make_output_transform(int i, const CurvePair& curves, cudaStream_t stream);

  FrameFormat format_, results_;
  std::array<float, max_planes> sigma_;
  std::array<cuda::DeviceBuffer<std::byte>, max_planes> memory_, filtered_memory_;
  std::array<cuda::DeviceBuffer<CellSum>, max_planes> cells_;
  std::vector<cuda::DeviceBuffer<float>> curves_, shifts_;
  CurveTables forward_{};                 // pointers into curves_
  OutputTransforms output_transforms_{};  // pointers into curves_ and shifts_
  cuda::DeviceBuffer<float> thresholds_;  // thresholds for the dithering of results
  // `planes_` contains the uploaded samples, and `filtered_` contains the results. For float
  // samples, `filtered_` first contains the input of the filter, in which RawFrame has replaced the
  // out-of-range samples.
  RawPlanes planes_, filtered_;
  cuda::Staging staging_;
  DevicePictureReader device_pictures_;
};

}  // namespace lull
