#pragma once
// A frame of video: planar samples in the decoder's format, time, and further data that filters
// preserve.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/dither/dither.h"
#include "core/image.h"

namespace lull {

enum class Layout { gray, yuv, rgb };    // planes: Y | Y, Cb, Cr | R, G, B
enum class SampleType { u8, u16, f32 };  // u16: native byte order, value in the low bits

/// Format of a frame's samples. A session accepts only frames of its own format. The members
/// luma_scale, chroma_scale and dither serve for results whose bit depth is not the bit depth of
/// the input (core/denoiser.h).
struct FrameFormat {
  int width = 0, height = 0;  // samples of the first plane, at least 1
  Layout layout = Layout::gray;
  SampleType sample = SampleType::u8;
  int bits = 8;                                // 8..16 for integers; 32 for f32
  int chroma_shift_x = 0, chroma_shift_y = 0;  // log2 of the subsampling of planes 1 and 2
  float white = 1;  // for f32: the sample value that corresponds to 255 on the scale of sigma
  /// For integer samples, the sample values that correspond to 255 on the 0..255 scale:
  /// `luma_scale` for luma, grey and RGB, and `chroma_scale` for chroma. The value 0 stands for the
  /// maximum of the bit depth.
  float luma_scale = 0, chroma_scale = 0;
  Dither dither = Dither::none;  // how floats are rounded to integer samples

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
  /// Returns the maximum of integer samples, or 0 for float samples, which have no maximum.
  constexpr int max_value() const { return sample == SampleType::f32 ? 0 : (1 << bits) - 1; }
  /// Returns the sample value of a plane that corresponds to 255 on the 0..255 scale.
  constexpr double full_scale(int plane = 0) const {
    if (sample == SampleType::f32) return white;
    const float scale = layout == Layout::yuv && plane > 0 ? chroma_scale : luma_scale;
    return scale > 0 ? scale : max_value();
  }
  bool operator==(const FrameFormat&) const = default;
};

struct Rational {
  std::int64_t num = 0, den = 1;
  bool operator==(const Rational&) const = default;
};

/// Samples in GPU memory, in the layout of the GPU's decoder or plane by plane. The legacy default
/// stream writes the samples, so work on other streams must wait for this stream.
struct DevicePicture {
  int device = 0;  // index of the GPU among the visible ones
  /// Device addresses of the planes. Width and stride are in bytes. Planes 1 and 2 are Cb and Cr.
  /// If plane 2 is empty, plane 1 contains interleaved integer samples of Cb and Cr.
  std::array<PlaneView<const std::byte>, 3> planes{};
  int shift = 0;  // number of unused low bits below the value of a sample

  constexpr bool interleaved() const { return planes[1].data != nullptr && !planes[2].data; }
};

/// Relation of a frame to the previous frame of its clip, for temporal filtering:
/// - `repeats`: the frame gets the result of the previous frame. Such repeated frames do not count
///   in temporal distances.
/// - `shares_noise`: the frame contains a part of the previous frame's noise. The session filters
///   this frame.
enum class RepeatState : unsigned char { unknown, independent, shares_noise, repeats };

class Holes;      // noise/holes.h
class SliceMask;  // core/slices.h
struct Features;  // noise/render/features.h
struct SideData;  // side data, colour, alpha: defined and read by io only
struct Frame;

/// The properties of a frame apart from its samples. A result has the properties of its input
/// frame.
struct FrameInfo {
  std::int64_t pts = 0, duration = 0;         // in time_base ticks
  Rational time_base;                         // seconds per tick
  std::shared_ptr<const SideData> side_data;  // preserved unchanged
  /// Relation to the previous frame; `unknown`: the session determines it. Either all frames of a
  /// clip have a known state, or all frames are `unknown`.
  RepeatState repeat_state = RepeatState::unknown;
  /// Distance from the nearest frame whose result the caller requires, not counting repeated
  /// frames. It is 0 for required frames. All other frames are margin frames, whose results are
  /// arbitrary. Their distance is negative before the required frames, and positive after them.
  int context_distance = 0;
  /// If true, the frame lies outside the requested part of a clip. The session uses the frame only
  /// for the temporal filtering of other frames, and the caller discards the result.
  bool context_only = false;
  /// Index of a slice in its volume. If the index does not follow the index of the previous slice,
  /// the slice begins another volume. If all slices have the index -1, they belong to one volume.
  int slice = -1;
  /// The voxels of a slice whose results the caller requires. Filters may skip all other voxels. If
  /// null, the caller requires all results.
  std::shared_ptr<const SliceMask> mask;
};

/// Inputs of a filter in addition to the samples of the frame. Results do not contain these inputs.
struct FrameInputs {
  /// The holes of a grey frame: the positions at which the source has no valid sample, so that the
  /// frame contains filled-in values. If null, all samples are valid. Only sessions whose
  /// parameters allow holes use this member.
  std::shared_ptr<const Holes> holes;
  /// Guide of this frame, in which a session with guides matches patches. The guide has the size
  /// and the planes of the frame.
  std::shared_ptr<const Frame> guide;
  /// Features of a render that the renderer provides in addition to the colour.
  std::shared_ptr<const Features> features;
};

struct Frame : FrameInfo, FrameInputs {
  FrameFormat format;
  /// The buffer of the samples, from a FramePool. 64 bytes beyond the last row must be readable,
  /// because the SIMD code of encoders reads full vectors.
  std::shared_ptr<std::byte[]> pixels;
  std::array<PlaneView<std::byte>, 3> planes{};  // into pixels; width and stride in bytes
  /// Samples in GPU memory. If the pointer is not null, `planes` is empty. All copies of the
  /// pointer share ownership of the GPU memory.
  std::shared_ptr<const DevicePicture> on_device;

  /// Returns plane `i` as samples of type T, which must be the sample type of the format. The
  /// samples must be in host memory.
  template <class T>
  PlaneView<T> plane(int i) const {
    const auto& p = planes[i];
    return {reinterpret_cast<T*>(p.data), format.plane_width(i), format.plane_height(i),
            p.stride / static_cast<std::ptrdiff_t>(sizeof(T))};
  }
  /// Makes this frame refer to the samples of the frame `other`, which must be in host memory.
  void take_samples(const Frame& other) {
    pixels = other.pixels;
    planes = other.planes;
  }
  /// Copies the properties of the frame `other` (time, side data, position in the clip), but
  /// neither its samples nor its additional inputs.
  void copy_info(const FrameInfo& other) { static_cast<FrameInfo&>(*this) = other; }
};

}  // namespace lull
