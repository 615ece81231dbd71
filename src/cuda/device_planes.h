#pragma once
// Planes of samples on a device: how they lie, and how they come and go. Everything is asynchronous
// on `stream`; nothing here allocates or waits.

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/float_range.h"
#include "core/frame.h"
#include "core/round_up.h"
#include "core/sample_ends.h"
#include "cuda/handles.h"

namespace lull {

/// Layout of every plane on the device: a margin around the picture, so that no kernel has to ask
/// whether a search window leaves it. Offsets count elements, whatever their type.
struct Margins {
  int width = 0, height = 0;  // of the picture
  int left = 0, top = 0;      // multiples of 4, at least the window's radius
  int pitch = 0, rows = 0;    // of the whole, pitch a multiple of 32

  Margins() = default;
  Margins(int width, int height, int window, int rows_above);
  constexpr int at(int x, int y) const { return (y + top) * pitch + x + left; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(pitch) * rows; }

  /// None, but for what fills up rows: for planes on their way to and from other layouts.
  static constexpr Margins none(int width, int height) {
    Margins flat;
    flat.width = width, flat.height = flat.rows = height;
    flat.pitch = flat_pitch(width);
    return flat;
  }
  static constexpr int flat_pitch(int width) { return round_up(width, 32); }
};

/// Sums of all groups' estimates in fixed point: integers add up to the same result in any order.
struct Sums {
  unsigned long long* numerator = nullptr;  // signed values, two's complement
  std::uint32_t* denominator = nullptr;     // weights at patch origins; the window comes later
};

inline constexpr int max_planes = 3;
using Planes = std::array<const float*, max_planes>;

/// A frame's planes as they came, on the device.
struct RawPlanes {
  SampleType sample = SampleType::u8;
  double full_scale = 255;
  std::array<void*, max_planes> data{};
  std::array<int, max_planes> pitch{};  // bytes
};
enum class Colour { as_is, opponent };

/// SampleCurve::values for each plane of a frame, on the device; null: samples stay as they are.
using CurveTables = std::array<const float*, max_planes>;

/// What becomes of filtered samples of a plane, on the device: a curve, and limits.
struct WayBack {
  const float* curve = nullptr;  // SampleCurve::values; null: samples stay as they are
  SampleEnds ends;               // of what the curve gives
  // Room for the tolls of the ends that are there, toll_cells() of the plane's width a row.
  float *low_tolls = nullptr, *high_tolls = nullptr;
  int columns = 0;
};
using WaysBack = std::array<WayBack, max_planes>;

/// Samples of `count` planes from `first` on to floats on the 0..255 scale, by their curves, and
/// then to the opponent space.
void samples_to_planes(const RawPlanes& raw, int first, int count, Colour colour,
                       const Margins& margins, const std::array<float*, max_planes>& planes,
                       cudaStream_t stream, const CurveTables& curves = {});
/// The way back, rounded to nearest and clipped.
void planes_to_samples(const Planes& planes, int first, int count, Colour colour,
                       const Margins& margins, const RawPlanes& raw, cudaStream_t stream,
                       const WaysBack& back = {});
/// The tolls of all planes of which samples end (samples/sample_ends.cu), as planes_to_samples()
/// needs them.
void find_tolls(const Planes& planes, int first, int count, Colour colour, const Margins& margins,
                const WaysBack& back, cudaStream_t stream);
/// A picture on the same device, of 8 to 16 bits, to planes of samples (device_picture.cu).
void unpack_picture(const DevicePicture& picture, const FrameFormat& format, const RawPlanes& to,
                    cudaStream_t stream);
// Floats alone (samples/float_guard.cu), as core/float_range.h says; `sigma`: of the planes' noise.
/// `seen`: what filters see of `raw`, as samples. `cells`: room for those of each plane.
void guard_samples(const RawPlanes& raw, const FrameFormat& format,
                   const std::array<float, max_planes>& sigma,
                   const std::array<CellSum*, max_planes>& cells, const RawPlanes& seen,
                   cudaStream_t stream);
/// The way back: `filtered` gets what filters did not see of `raw`.
void unguard_samples(const RawPlanes& raw, const FrameFormat& format,
                     const std::array<float, max_planes>& sigma, const RawPlanes& filtered,
                     cudaStream_t stream);

/// Zeroed on `stream`, so that margins hold no noise: they are read, though nothing depends on
/// them.
template <class T>
cuda::DeviceBuffer<T> zeroed(std::size_t size, cudaStream_t stream) {
  cuda::DeviceBuffer<T> buffer(size);
  cuda::check(cudaMemsetAsync(buffer.get(), 0, buffer.bytes(), stream));
  return buffer;
}

/// A plane of each slot for frames, zeroed.
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
