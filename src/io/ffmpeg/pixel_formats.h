#pragma once
// Describes FFmpeg's pixel formats as FrameFormat, and converts samples between FFmpeg's pictures
// and lull's frames without loss.

#include <optional>

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// The content of a pixel format: everything except the arrangement of the samples in memory.
/// Formats with equal traits store the same pictures.
struct PixelTraits {
  FrameFormat format;  // width and height are 0
  bool alpha = false;  // an alpha channel of the same bit depth as the other samples
  bool operator==(const PixelTraits&) const = default;
};

/// Returns the traits of a pixel format. Palettes have the traits of RGB, and 1-bit formats have
/// the traits of 8 bits. Returns nullopt for unsupported formats: hardware surfaces, Bayer
/// patterns, XYZ, bit depths outside 8..16, bit depths that differ between channels, and floats
/// other than planar floats of 32 bits.
std::optional<PixelTraits> traits_of(AVPixelFormat format);

/// Returns the traits of the pixel format of a decoded picture. If all entries of a palette are
/// opaque, the traits have no alpha.
std::optional<PixelTraits> traits_of(const AVFrame& picture);

/// Returns the format in which `pack()` writes pictures of `format`. The result is RGB or RGBA for
/// palettes, 8-bit grey for 1-bit formats, and `format` itself for all other formats.
AVPixelFormat packable(AVPixelFormat format, const PixelTraits& traits);

/// Returns FFmpeg's name of the format; "unknown" if the format has no name.
const char* name_of(AVPixelFormat format);

/// Returns whether the definition of `format` implies full-range YCbCr (yuvj420p and similar
/// formats).
bool is_full_range_yuv(AVPixelFormat format);

/// Returns the format in `list` that can store pictures of `format` unchanged, preferably `format`
/// itself; AV_PIX_FMT_NONE if there is none. AV_PIX_FMT_NONE also marks the end of `list`. The
/// function returns a yuvj format only if `full_range` is true.
AVPixelFormat find_equal(const AVPixelFormat* list, AVPixelFormat format, const PixelTraits& traits,
                         bool full_range);

/// Copies the samples of `picture` to the planes of `frame`, and the alpha samples to `alpha` if it
/// is not null. The formats must match. The function clamps samples above the maximum of the bit
/// depth, because FFmpeg accepts such samples in raw files.
void unpack(const AVFrame& picture, const Frame& frame, const Frame* alpha);

/// Makes the planes of `picture` refer to the samples of `frame` without a copy. `picture` must
/// have its format and size, but no buffers. Returns false, and changes nothing, if the memory
/// layouts differ or the rows are not aligned to 64 bytes. In this case, the caller must use
/// `pack()`.
bool share_planes(const Frame& frame, AVFrame& picture);

/// Copies the samples of `frame` and `alpha` to the buffers of `picture`. The traits of `picture`
/// must match `frame` and `alpha`.
void pack(const Frame& frame, const Frame* alpha, AVFrame& picture);

}  // namespace lull::io
