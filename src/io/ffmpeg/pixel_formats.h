#pragma once
// FFmpeg's pixel formats as FrameFormats, and samples from one to the other, exactly.

#include <optional>

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// What a pixel format holds, however it is packed: formats with equal traits hold equal pictures.
struct PixelTraits {
  FrameFormat format;  // width and height are 0
  bool alpha = false;  // of the same depth as the other samples
  bool operator==(const PixelTraits&) const = default;
};

/// Traits of a pixel format, nullopt if it is not one that lull handles: hardware surfaces,
/// Bayer patterns, XYZ, depths outside 8..16 or unequal, floats but planar ones of 32 bits.
/// Palettes count as RGB, 1 bit as 8 bits.
std::optional<PixelTraits> traits_of(AVPixelFormat format);

/// Traits of a decoded picture: as above, and a palette has alpha if one of its entries is not
/// opaque.
std::optional<PixelTraits> traits_of(const AVFrame& picture);

/// `format`, or for formats that cannot be packed again the one that unpacking makes of them.
AVPixelFormat packable(AVPixelFormat format, const PixelTraits& traits);

/// The name, "unknown" if there is none.
const char* name_of(AVPixelFormat format);

/// Whether `format` holds full-range YCbCr by definition (yuvj420p and its like).
bool is_full_range_yuv(AVPixelFormat format);

/// The format of `list` (ends with AV_PIX_FMT_NONE) that holds pictures of `format` with nothing
/// changed: itself if possible. AV_PIX_FMT_NONE if there is none.
/// `full_range` says how the samples are meant, since yuvj formats cannot say otherwise.
AVPixelFormat find_equal(const AVPixelFormat* list, AVPixelFormat format, const PixelTraits& traits,
                         bool full_range);

/// Samples of `picture` into planes of `frame` and, where not null, `alpha`, both of matching
/// format. 16-bit samples beyond the format's depth are clamped: FFmpeg lets raw files have them.
void unpack(const AVFrame& picture, const Frame& frame, const Frame* alpha);

/// Points the planes of `picture` (format and size are set, no buffers) at those of `frame`, if
/// they lie in memory just as the format has them, each row at a multiple of 64 bytes. False, and
/// nothing changed, if not: then pack().
bool share_planes(const Frame& frame, AVFrame& picture);

/// The other way: fills the buffers of `picture`, whose traits must match.
void pack(const Frame& frame, const Frame* alpha, AVFrame& picture);

}  // namespace lull::io
