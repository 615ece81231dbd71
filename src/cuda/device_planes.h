#pragma once
// Layout and conversion of planes on a device. The functions queue their work on `stream`, and
// neither allocate memory nor wait.

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/clip_limits.h"
#include "core/float_range.h"
#include "core/frame.h"
#include "cuda/handles.h"
#include "cuda/layout/margins.h"

namespace lull {

/// Fixed-point sums of the weighted estimates of all groups, independent of the order of additions.
struct Sums {
  unsigned long long* numerator = nullptr;  // signed values, two's complement
  std::uint32_t* denominator = nullptr;     // weights at patch origins, without the Kaiser window
};

inline constexpr int max_planes = 3;
using Planes = std::array<const float*, max_planes>;

/// The planes of a frame on the device, in the sample format of the frame.
struct RawPlanes {
  SampleType sample = SampleType::u8;
  std::array<double, max_planes> full_scale{255, 255, 255};  // FrameFormat::full_scale()
  int max_value = 255;                                       // maximum of integer samples
  const float* thresholds = nullptr;  // dither_thresholds(); null: samples are rounded to nearest
  std::array<void*, max_planes> data{};
  std::array<int, max_planes> pitch{};  // bytes

  RawPlanes() = default;
  /// Describes planes of the given format. All pointers in `data` are null.
  explicit RawPlanes(const FrameFormat& format)
      : sample(format.sample),
        full_scale{format.full_scale(0), format.full_scale(1), format.full_scale(2)},
        max_value(format.max_value()) {}
};

/// Returns the dithering thresholds of the format (core/dither/dither.h) in device memory. The copy
/// is complete on return. Without dithering, the buffer is empty.
[[nodiscard]] cuda::DeviceBuffer<float> dither_thresholds(const FrameFormat& format,
                                                          cudaStream_t stream);

enum class Colour { as_is, opponent };

/// The values of the curve (SampleCurve::values) of each plane, in device memory. Null: samples
/// remain unchanged.
using CurveTables = std::array<const float*, max_planes>;

/// Operations on the filtered samples of a plane: inverse variance stabilisation, then clipping.
struct OutputTransform {
  const float* curve = nullptr;  // SampleCurve::values; null: samples are not changed
  ClipLimits limits;             // limits of the curve's output
  // Memory for the clipping shifts of each cell, in rows of `columns` values, for the low limit and
  // for the high limit. The clipping shift is the maximum distance by which clipping moves samples
  // near a limit towards it (core/clip_limits.h). If a plane lacks a limit, the pointer is null.
  float *low_shifts = nullptr, *high_shifts = nullptr;
  int columns = 0;
};
using OutputTransforms = std::array<OutputTransform, max_planes>;

/// Converts `count` planes, beginning with plane `first`, to floats on the 0..255 scale. The
/// function applies the stabilising curves, and then transforms RGB to the opponent colour space.
void samples_to_planes(const RawPlanes& raw, int first, int count, Colour colour,
                       const Margins& margins, const std::array<float*, max_planes>& planes,
                       cudaStream_t stream, const CurveTables& curves = {});
/// Converts float planes to stored samples. Transforms the planes from the opponent colour space if
/// `colour` requires the transform, and applies the output transforms `back`.
void planes_to_samples(const Planes& planes, int first, int count, Colour colour,
                       const Margins& margins, const RawPlanes& raw, cudaStream_t stream,
                       const OutputTransforms& back = {});
/// Converts integer samples of the unfiltered plane `i`, of `width` x `height` samples, to the
/// integer format of the results.
void convert_samples(const RawPlanes& from, int i, int width, int height, const RawPlanes& to,
                     cudaStream_t stream);
/// For each plane with limits, computes the clipping shifts: the maximum distances by which
/// clipping moves samples near a limit towards it (samples/clip_limits.cu). planes_to_samples()
/// calls this function before it clips.
void find_clip_shifts(const Planes& planes, int first, int count, Colour colour,
                      const Margins& margins, const OutputTransforms& back, cudaStream_t stream);
/// Copies a picture of 8 to 16 bits on the same device to planes of samples (device_picture.cu).
void unpack_picture(const DevicePicture& picture, const FrameFormat& format, const RawPlanes& to,
                    cudaStream_t stream);
// Copies `raw` to `seen`, and replaces out-of-range float samples in the copy (core/float_range.h).
// `sigma` contains the noise levels of the planes. `cells` is scratch memory for each plane.
void guard_samples(const RawPlanes& raw, const FrameFormat& format,
                   const std::array<float, max_planes>& sigma,
                   const std::array<CellSum*, max_planes>& cells, const RawPlanes& seen,
                   cudaStream_t stream);
/// Restores the samples that guard_samples() has replaced: copies these samples from `raw` to
/// `filtered`.
void restore_samples(const RawPlanes& raw, const FrameFormat& format,
                     const std::array<float, max_planes>& sigma, const RawPlanes& filtered,
                     cudaStream_t stream);

/// Allocates a buffer, and queues on `stream` the work that sets it to 0. This initialises the
/// margins of planes, which kernels also read, although their values do not influence results.
template <class T>
cuda::DeviceBuffer<T> zeroed(std::size_t size, cudaStream_t stream) {
  cuda::DeviceBuffer<T> buffer(size);
  cuda::check(cudaMemsetAsync(buffer.get(), 0, buffer.bytes(), stream));
  return buffer;
}

/// A ring buffer with one zeroed plane for each slot of a session.
template <class T>
class PlaneRing {
 public:
  PlaneRing() = default;
  PlaneRing(int slots, std::size_t plane, cudaStream_t stream)
      : plane_(plane), memory_(zeroed<T>(slots * plane, stream)) {}
  T* at(int slot) const { return memory_ ? memory_.get() + slot * plane_ : nullptr; }

 private:
  std::size_t plane_ = 0;
  cuda::DeviceBuffer<T> memory_;
};

}  // namespace lull
