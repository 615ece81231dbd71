#pragma once
// FFmpeg's pixel formats as FrameFormats, and lossless conversion of samples between the two.

#include <optional>

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Content of a pixel format, independent of how its samples are packed. Formats with equal traits
/// can hold the same pictures.
struct PixelTraits {
  FrameFormat format;  // width and height are 0
  bool alpha = false;  // an alpha channel of the same bit depth as the other samples
  bool operator==(const PixelTraits&) const = default;
};

/// Returns the traits of a pixel format, or nullopt if lull does not support the format: hardware
/// surfaces, Bayer patterns, XYZ, bit depths outside 8..16 or that differ between channels, and
/// floats other than planar ones of 32 bits. Palettes count as RGB, 1-bit formats as 8 bits.
std::optional<PixelTraits> traits_of(AVPixelFormat format);

/// Returns the traits of a decoded picture. In contrast to the traits of a format, a palette has
/// alpha only if one of its entries is not opaque.
std::optional<PixelTraits> traits_of(const AVFrame& picture);

/// Returns the format that pack() can write: `format`, or for palettes and 1-bit formats the format
/// of their unpacked samples.
AVPixelFormat packable(AVPixelFormat format, const PixelTraits& traits);

/// Returns the name of the format, or "unknown" if it has none.
const char* name_of(AVPixelFormat format);

/// Returns whether `format` is full-range YCbCr by definition (yuvj420p and similar formats).
bool is_full_range_yuv(AVPixelFormat format);

/// Returns the format in `list` (which ends with AV_PIX_FMT_NONE) that holds pictures of `format`
/// without any change; `format` itself if the list contains it. AV_PIX_FMT_NONE if there is none.
/// `full_range` states the range of the samples: yuvj formats are candidates only for full range.
AVPixelFormat find_equal(const AVPixelFormat* list, AVPixelFormat format, const PixelTraits& traits,
                         bool full_range);

/// Copies the samples of `picture` to the planes of `frame` and, if it is not null, of `alpha`.
/// Both must have the matching format. 16-bit samples above the maximum of the bit depth are
/// clamped; FFmpeg accepts them in raw files.
void unpack(const AVFrame& picture, const Frame& frame, const Frame* alpha);

/// Points the planes of `picture` (format and size are set, no buffers) at those of `frame`. This
/// works if the frame has the memory layout of the format, and if its rows are aligned to 64 bytes.
/// Otherwise returns false and changes nothing; the caller then uses pack().
bool share_planes(const Frame& frame, AVFrame& picture);

/// Copies the samples of `frame` and `alpha` to the buffers of `picture`, whose traits must match.
void pack(const Frame& frame, const Frame* alpha, AVFrame& picture);

}  // namespace lull::io
