#pragma once
// Converts frames to pictures for viewing.

#include <string>

#include "core/frame.h"
#include "io/access.h"

namespace lull::io {

/// Converts the colours of `frame` to R G B of 16 bits and full range. The samples of `frame` must
/// be in host memory. The function uses the matrix and the range that open_source() detected, and
/// interpolates chroma. It clips floats to 0..white. Floats of R G B are linear light, so the
/// function applies the sRGB transfer function.
[[nodiscard]] Frame to_rgb(const Frame& frame);

/// Returns the alpha channel of a frame as a grey plane with the size of the frame. Returns null if
/// the frame has no alpha channel.
[[nodiscard]] const Frame* alpha_of(const Frame& frame);
/// Replaces the alpha channel of a frame by a plane with the size of the frame. All other side data
/// remain unchanged.
void set_alpha(Frame& frame, Frame alpha);

/// Returns a picture as the bytes of a PNG file. `picture` must be grey or R G B of 8 bits.
[[nodiscard]] std::string encode_png(const Frame& picture);

/// Writes a PNG file. The file gets its final name when it is complete. `rgb` must be R G B of 8
/// bits.
/// @throws CannotCreate, IoError
void write_png(const std::string& path, const Frame& rgb, bool overwrite,
               const Access& access = {});

}  // namespace lull::io
