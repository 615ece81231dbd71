#pragma once
// Frames for people to look at.

#include <string>

#include "core/frame.h"
#include "io/access.h"

namespace lull::io {

/// The colours of `frame`, whose samples are in the host's memory, as R G B of 16 bits and full
/// range: converted by the matrix and range that a source of open_source found, chroma at every
/// place. Floats are clipped to 0..white; those of R G B are taken for light, and get sRGB's curve.
[[nodiscard]] Frame to_rgb(const Frame& frame);

/// The alpha that came with a frame: one grey plane of its size; null if there is none.
[[nodiscard]] const Frame* alpha_of(const Frame& frame);
/// Gives a frame another alpha, of its own size, and leaves all else that came with it.
void set_alpha(Frame& frame, Frame alpha);

/// The bytes of a PNG file. `picture` is grey or R G B, of 8 bits.
[[nodiscard]] std::string encode_png(const Frame& picture);

/// A file that appears under its name when it is whole. `rgb` is R G B of 8 bits.
/// @throws CannotCreate, IoError
void write_png(const std::string& path, const Frame& rgb, bool overwrite,
               const Access& access = {});

}  // namespace lull::io
