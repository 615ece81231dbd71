#pragma once
// Planes of samples on a device: their layout, and their conversion from and to stored samples. All
// functions are asynchronous on `stream`; they neither allocate nor wait.

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

/// Sums of the estimates of all groups in fixed point: integer sums are equal in any order.
struct Sums {
  unsigned long long* numerator = nullptr;  // signed values, two's complement
  std::uint32_t* denominator = nullptr;     // weights at patch origins; the window is applied later
};

inline constexpr int max_planes = 3;
using Planes = std::array<const float*, max_planes>;

/// A frame's planes on the device, as they are stored.
struct RawPlanes {
  SampleType sample = SampleType::u8;
  std::array<double, max_planes> full_scale{255, 255, 255};  // FrameFormat::full_scale()
  int max_value = 255;                                       // of integer samples
  const float* thresholds = nullptr;  // dither_thresholds(); null: samples are rounded to nearest
  std::array<void*, max_planes> data{};
  std::array<int, max_planes> pitch{};  // bytes

  RawPlanes() = default;
  /// Planes of the given format, without memory.
  explicit RawPlanes(const FrameFormat& format)
      : sample(format.sample),
        full_scale{format.full_scale(0), format.full_scale(1), format.full_scale(2)},
        max_value(format.max_value()) {}
};

/// Returns the thresholds of a format's dithering (core/dither/dither.h) in device memory; empty if
/// its samples are not dithered. The copy is complete when the function returns.
[[nodiscard]] cuda::DeviceBuffer<float> dither_thresholds(const FrameFormat& format,
                                                          cudaStream_t stream);

enum class Colour { as_is, opponent };

/// SampleCurve::values of each plane of a frame, on the device; null: samples are not changed.
using CurveTables = std::array<const float*, max_planes>;

/// Transform of a plane's filtered samples on the device: a curve, then clip limits.
struct OutputTransform {
  const float* curve = nullptr;  // SampleCurve::values; null: samples are not changed
  ClipLimits limits;             // limits of the curve's output
  // Memory for the shifts of the enabled limits, as rows of clip_shift_cells(width) cells; null for
  // limits that are disabled.
  float *low_shifts = nullptr, *high_shifts = nullptr;
  int columns = 0;
};
using OutputTransforms = std::array<OutputTransform, max_planes>;

/// Converts `count` planes from `first` on to floats on the 0..255 scale. The curves are applied
/// next, then the transform to the opponent space.
void samples_to_planes(const RawPlanes& raw, int first, int count, Colour colour,
                       const Margins& margins, const std::array<float*, max_planes>& planes,
                       cudaStream_t stream, const CurveTables& curves = {});
/// Converts planes back to stored samples: from the opponent space if necessary, then by the output
/// transforms `back`. Integers are rounded to nearest and clipped.
void planes_to_samples(const Planes& planes, int first, int count, Colour colour,
                       const Margins& margins, const RawPlanes& raw, cudaStream_t stream,
                       const OutputTransforms& back = {});
/// Converts plane `i`, of the given size, of integer samples that are not filtered to the integer
/// samples of results.
void convert_samples(const RawPlanes& from, int i, int width, int height, const RawPlanes& to,
                     cudaStream_t stream);
/// Computes the clipping shifts of all planes that have limits (samples/clip_limits.cu);
/// planes_to_samples() uses them.
void find_clip_shifts(const Planes& planes, int first, int count, Colour colour,
                      const Margins& margins, const OutputTransforms& back, cudaStream_t stream);
/// Copies a picture of 8 to 16 bits on the same device to planes of samples (device_picture.cu).
void unpack_picture(const DevicePicture& picture, const FrameFormat& format, const RawPlanes& to,
                    cudaStream_t stream);
// The next two functions implement the input range handling of core/float_range.h, for float
// samples only (samples/float_guard.cu). `sigma` is the standard deviation of the planes' noise.
// guard_samples() writes the samples of `raw` to `seen`, and replaces out-of-range samples there.
// `cells` is memory for the cell sums of each plane.
void guard_samples(const RawPlanes& raw, const FrameFormat& format,
                   const std::array<float, max_planes>& sigma,
                   const std::array<CellSum*, max_planes>& cells, const RawPlanes& seen,
                   cudaStream_t stream);
/// Restores those samples of `raw` in `filtered` that guard_samples() has changed.
void restore_samples(const RawPlanes& raw, const FrameFormat& format,
                     const std::array<float, max_planes>& sigma, const RawPlanes& filtered,
                     cudaStream_t stream);

/// Returns a buffer that is zeroed on `stream`. Kernels also read the margins of planes; no result
/// depends on those values.
template <class T>
cuda::DeviceBuffer<T> zeroed(std::size_t size, cudaStream_t stream) {
  cuda::DeviceBuffer<T> buffer(size);
  cuda::check(cudaMemsetAsync(buffer.get(), 0, buffer.bytes(), stream));
  return buffer;
}

/// A ring buffer with one zeroed plane for each frame slot.
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
