#pragma once
// Describes FFmpeg's pixel formats as FrameFormat, and converts between FFmpeg's pictures and
// lull's frames without loss.

#include <optional>

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// The content of a pixel format without its memory layout. Formats of equal traits store the same
/// pictures.
struct PixelTraits {
  FrameFormat format;  // width and height are 0
  bool alpha = false;  // an alpha channel of the same bit depth as the other samples
  bool operator==(const PixelTraits&) const = default;
};

/// Returns the traits of a pixel format. Palettes count as RGB, and 1-bit formats as 8 bits.
/// Returns nullopt for hardware surfaces, Bayer patterns, XYZ, packed 4:1:1, bit depths outside
/// 8..16, mixed bit depths, and floats other than planar 32-bit floats.
std::optional<PixelTraits> traits_of(AVPixelFormat format);

/// Returns the traits of a decoded picture's pixel format, without alpha if all palette entries are
/// opaque.
std::optional<PixelTraits> traits_of(const AVFrame& picture);

/// Returns the output format of `pack()`: RGB or RGBA for palettes, 8-bit grey for 1-bit formats,
/// or else `format`.
AVPixelFormat packable(AVPixelFormat format, const PixelTraits& traits);

/// Returns FFmpeg's name of the format; "unknown" if there is none.
const char* name_of(AVPixelFormat format);

/// Returns whether `format` implies full-range YCbCr (yuvj420p and similar formats).
bool is_full_range_yuv(AVPixelFormat format);

/// Returns a format in `list` that can store pictures of `format` unchanged, preferably `format`
/// itself; AV_PIX_FMT_NONE if there is none. The function returns yuvj formats only if `full_range`
/// is true. `list` ends with AV_PIX_FMT_NONE.
AVPixelFormat find_equal(const AVPixelFormat* list, AVPixelFormat format, const PixelTraits& traits,
                         bool full_range);

/// Copies the samples of `picture` to `frame`, and the alpha samples to `alpha` if `alpha` is not
/// null. The formats must match. The function clamps samples to the bit depth, because FFmpeg
/// accepts larger samples in raw files.
void unpack(const AVFrame& picture, const Frame& frame, const Frame* alpha);

/// Makes `picture` share the samples of `frame`. `picture` must have a format and a size, but no
/// buffers. If the memory layouts differ or rows are not aligned to 64 bytes, the function returns
/// false and changes nothing. The caller must then use `pack()`.
bool share_planes(const Frame& frame, AVFrame& picture);

/// Copies the samples of `frame` and `alpha` to `picture`. The pixel traits of `picture` and of the
/// frames must match.
void pack(const Frame& frame, const Frame* alpha, AVFrame& picture);

}  // namespace lull::io
