#pragma once
// Converts frames to pictures for viewing.

#include <string>

#include "core/frame.h"
#include "io/access.h"

namespace lull::io {

/// Converts `frame`, which must be in host memory, to full-range R G B of 16 bits. Uses the colour
/// matrix and the range that open_source() detected. Interpolates chroma, and clips floating-point
/// samples to 0..white. Floating-point R G B samples are linear light, to which the function
/// applies the sRGB transfer function.
[[nodiscard]] Frame to_rgb(const Frame& frame);

/// Returns the alpha channel of a frame as a grey plane of the frame's size; null if there is none.
[[nodiscard]] const Frame* alpha_of(const Frame& frame);
/// Replaces the alpha channel of a frame by a plane of the frame's size. Other side data remain
/// unchanged.
void set_alpha(Frame& frame, Frame alpha);

/// Returns a picture (grey or R G B of 8 bits) as the bytes of a PNG file.
[[nodiscard]] std::string encode_png(const Frame& picture);

/// Writes an 8-bit R G B picture as a PNG file, and renames the complete file to its final name.
/// @throws CannotCreate, IoError
void write_png(const std::string& path, const Frame& rgb, bool overwrite,
               const Access& access = {});

}  // namespace lull::io
