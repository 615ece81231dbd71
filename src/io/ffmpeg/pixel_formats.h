#pragma once
// Describes FFmpeg's pixel formats as FrameFormat, and converts samples between FFmpeg's pictures
// and lull's frames without loss.

#include <optional>

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// The content of a pixel format, without the arrangement of the samples in memory. Formats with
/// equal traits can store the same pictures.
struct PixelTraits {
  FrameFormat format;  // width and height are 0
  bool alpha = false;  // an alpha channel of the same bit depth as the other samples
  bool operator==(const PixelTraits&) const = default;
};

/// Returns the traits of a pixel format. A format with a palette has the traits of RGB, and a 1-bit
/// format has the traits of 8 bits. Returns nullopt if lull does not support the format: hardware
/// surfaces, Bayer patterns, XYZ, bit depths outside 8..16, bit depths that differ between
/// channels, and floats other than planar floats of 32 bits.
std::optional<PixelTraits> traits_of(AVPixelFormat format);

/// Returns the traits of a decoded picture. They differ from the traits of the pixel format only
/// for a picture with a palette, which has alpha only if an entry of the palette is not opaque.
std::optional<PixelTraits> traits_of(const AVFrame& picture);

/// Returns the format in which pack() writes pictures of `format`. The result is RGB or RGBA for
/// palettes, 8-bit grey for 1-bit formats, and `format` itself for all other formats.
AVPixelFormat packable(AVPixelFormat format, const PixelTraits& traits);

/// Returns FFmpeg's name of the format; "unknown" if the format has no name.
const char* name_of(AVPixelFormat format);

/// Returns whether the definition of `format` implies full-range YCbCr (yuvj420p and similar
/// formats).
bool is_full_range_yuv(AVPixelFormat format);

/// Returns the format in `list` that can store pictures of `format` without any change: `format`
/// itself if the list contains it. Returns AV_PIX_FMT_NONE if there is no such format.
/// AV_PIX_FMT_NONE also marks the end of `list`. `full_range` states the range of the samples: the
/// function returns a yuvj format only for the full range.
AVPixelFormat find_equal(const AVPixelFormat* list, AVPixelFormat format, const PixelTraits& traits,
                         bool full_range);

/// Copies the samples of `picture` to the planes of `frame`, and its alpha samples to `alpha` if
/// `alpha` is not null. The formats of `frame` and `alpha` must match the picture. The function
/// clamps 16-bit samples above the maximum of the bit depth, which FFmpeg accepts in raw files.
void unpack(const AVFrame& picture, const Frame& frame, const Frame* alpha);

/// Makes the planes of `picture` refer to the samples of `frame`, so that no samples are copied.
/// The caller must set the format and the size of `picture`, and `picture` must have no buffers.
/// Returns false if the frame does not have the memory layout of the format, or if its rows are not
/// aligned to 64 bytes. The picture is then unchanged, and the caller must use pack().
bool share_planes(const Frame& frame, AVFrame& picture);

/// Copies the samples of `frame` and `alpha` to the buffers of `picture`. The traits of `picture`
/// must match `frame` and `alpha`.
void pack(const Frame& frame, const Frame* alpha, AVFrame& picture);

}  // namespace lull::io
