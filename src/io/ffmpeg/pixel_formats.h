#pragma once
// Describes FFmpeg's pixel formats as FrameFormat, and converts samples between the two without
// loss.

#include <optional>

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Content of a pixel format, independent of how the samples are packed. Formats with equal traits
/// can store the same pictures.
struct PixelTraits {
  FrameFormat format;  // width and height are 0
  bool alpha = false;  // an alpha channel of the same bit depth as the other samples
  bool operator==(const PixelTraits&) const = default;
};

/// Returns the traits of a pixel format. Palettes are described as RGB, and 1-bit formats as 8
/// bits. Returns nullopt if lull does not support the format: hardware surfaces, Bayer patterns,
/// XYZ, bit depths outside 8..16, bit depths that differ between channels, and floats other than
/// planar floats of 32 bits.
std::optional<PixelTraits> traits_of(AVPixelFormat format);

/// Returns the traits of a decoded picture. They differ from the traits of its pixel format only
/// for palettes: a picture with a palette has alpha only if an entry of the palette is not opaque.
std::optional<PixelTraits> traits_of(const AVFrame& picture);

/// Returns the format that pack() can write: `format` itself, or for palettes and 1-bit formats the
/// format of their unpacked samples.
AVPixelFormat packable(AVPixelFormat format, const PixelTraits& traits);

/// Returns the name of the format, or "unknown" if it has none.
const char* name_of(AVPixelFormat format);

/// Returns whether the definition of `format` implies full-range YCbCr (yuvj420p and similar
/// formats).
bool is_full_range_yuv(AVPixelFormat format);

/// Returns the format in `list` (which ends with AV_PIX_FMT_NONE) that can store pictures of
/// `format` without any change. This is `format` itself if the list contains it. Returns
/// AV_PIX_FMT_NONE if there is no such format. `full_range` states the range of the samples: yuvj
/// formats are candidates only for the full range.
AVPixelFormat find_equal(const AVPixelFormat* list, AVPixelFormat format, const PixelTraits& traits,
                         bool full_range);

/// Copies the samples of `picture` to the planes of `frame` and, if it is not null, of `alpha`. The
/// format of both frames must match the picture. 16-bit samples above the maximum of the bit depth,
/// which FFmpeg accepts in raw files, are clamped.
void unpack(const AVFrame& picture, const Frame& frame, const Frame* alpha);

/// Makes the planes of `picture` refer to the samples of `frame` instead of copying them. The
/// format and size of `picture` must be set, and it must have no buffers. Returns false and changes
/// nothing if the frame does not have the memory layout of the format, or if its rows are not
/// aligned to 64 bytes. In this case the caller must use pack().
bool share_planes(const Frame& frame, AVFrame& picture);

/// Copies the samples of `frame` and `alpha` to the buffers of `picture`, whose traits must match.
void pack(const Frame& frame, const Frame* alpha, AVFrame& picture);

}  // namespace lull::io
