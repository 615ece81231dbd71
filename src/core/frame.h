#pragma once
// A frame of video as the decoder gave it: planar samples, time, and what travels along untouched.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/image.h"

namespace lull {

enum class Layout { gray, yuv, rgb };    // planes: Y | Y, Cb, Cr | R, G, B
enum class SampleType { u8, u16, f32 };  // u16: native byte order, value in the low bits

/// What a frame is made of. Two frames with equal formats fit the same session.
struct FrameFormat {
  int width = 0, height = 0;  // samples of the first plane, from 1
  Layout layout = Layout::gray;
  SampleType sample = SampleType::u8;
  int bits = 8;                                // 8..16; 32 for f32
  int chroma_shift_x = 0, chroma_shift_y = 0;  // log2 of the subsampling of planes 1 and 2
  float white = 1;  // of f32: the sample value that stands for 255 on the scale of sigma

  constexpr int planes() const { return layout == Layout::gray ? 1 : 3; }
  constexpr int plane_width(int plane) const {
    return plane == 0 ? width : (width + (1 << chroma_shift_x) - 1) >> chroma_shift_x;
  }
  constexpr int plane_height(int plane) const {
    return plane == 0 ? height : (height + (1 << chroma_shift_y) - 1) >> chroma_shift_y;
  }
  constexpr int bytes_per_sample() const {
    return sample == SampleType::u8 ? 1 : sample == SampleType::u16 ? 2 : 4;
  }
  constexpr bool subsampled() const { return chroma_shift_x != 0 || chroma_shift_y != 0; }
  /// The sample value that stands for 255 on the scale of sigma.
  constexpr double full_scale() const {
    return sample == SampleType::f32 ? white : static_cast<double>((1 << bits) - 1);
  }
  bool operator==(const FrameFormat&) const = default;
};

struct Rational {
  std::int64_t num = 0, den = 1;
  bool operator==(const Rational&) const = default;
};

/// Samples in the memory of a GPU, laid out as its decoder does, or plane by plane as programs do.
/// They were written by work on that GPU's legacy default stream: work on another stream has to
/// wait for it.
struct DevicePicture {
  int device = 0;  // index of the GPU among the visible ones
  /// At addresses of the device; width and stride in bytes. Cb and Cr are planes 1 and 2, or take
  /// turns in plane 1 (of integers), and plane 2 is empty.
  std::array<PlaneView<const std::byte>, 3> planes{};
  int shift = 0;  // bits below the value of a sample

  constexpr bool interleaved() const { return planes[1].data != nullptr && !planes[2].data; }
};

/// What a frame is to the one before it in its clip, for filters that look at several: one that
/// repeats it is not filtered, but gets the same result, and does not count as a frame in between.
enum class Likeness : unsigned char { unknown, fresh, shares_noise, repeats };

class Holes;       // noise/holes.h
class SliceMask;   // core/slices.h
struct Features;   // noise/render/features.h
struct Passenger;  // side data, colour, alpha: defined and read by io only

struct Frame {
  FrameFormat format;
  std::int64_t pts = 0, duration = 0;  // in time_base ticks
  Rational time_base;                  // seconds per tick
  /// May be read for 64 bytes beyond the last row (FramePool's may).
  std::shared_ptr<std::byte[]> pixels;
  std::array<PlaneView<std::byte>, 3> planes{};  // into pixels; width and stride in bytes
  std::shared_ptr<const Passenger> passenger;    // travels untouched
  /// Unknown: a session finds out. Either of all frames of a clip, or of none.
  Likeness likeness = Likeness::unknown;
  /// Of a margin frame, which serves as context only: so many frames before (< 0) or after (> 0)
  /// the nearest one whose result is wanted, repetitions not counted. Its own result may show
  /// anything.
  int aside = 0;
  /// Of a part of a clip that is asked for: this frame is around it, and comes only because filters
  /// look at neighbours. Nobody wants its result.
  bool outside = false;
  /// Where frames are slices of a volume: its place there, from 0; sources number all frames. One
  /// that does not follow the one before begins another volume. -1: unknown; all are one volume.
  int slice = -1;
  /// Of a slice: the voxels whose results are wanted; null: all. Filters may leave out the others.
  std::shared_ptr<const SliceMask> mask;
  /// Of a grey frame: samples that hold nothing, and show what was filled in; null: none. For
  /// sessions whose parameters say that frames may have holes.
  std::shared_ptr<const Holes> holes;
  /// What filters compare patches in, in place of this frame, where they were asked to: one of the
  /// same size and planes.
  std::shared_ptr<const Frame> guide;
  /// Of a render: what its renderer knows beside the colour.
  std::shared_ptr<const Features> features;
  /// Where the samples are if they are not in `planes`, which are empty then. Keeps their memory.
  std::shared_ptr<const DevicePicture> on_device;

  /// Plane `i` as samples of type T. T must be the type that the format names. Not for samples on a
  /// device.
  template <class T>
  PlaneView<T> plane(int i) const {
    const auto& p = planes[i];
    return {reinterpret_cast<T*>(p.data), format.plane_width(i), format.plane_height(i),
            p.stride / static_cast<std::ptrdiff_t>(sizeof(T))};
  }
  /// Shares those of `other`, in the host's memory.
  void take_samples(const Frame& other) {
    pixels = other.pixels;
    planes = other.planes;
  }
  /// Everything of `other` but its pixels: time and passenger, and whether it is wanted.
  void take_identity(const Frame& other) {
    pts = other.pts;
    duration = other.duration;
    time_base = other.time_base;
    passenger = other.passenger;
    outside = other.outside;
    slice = other.slice;
    mask = other.mask;
  }
};

}  // namespace lull
