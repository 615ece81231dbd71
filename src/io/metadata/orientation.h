#pragma once
// Converts the orientation of pictures between EXIF's numbers and FFmpeg's display matrices. Also
// rotates the samples of pictures.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

using DisplayMatrix = std::array<std::int32_t, 9>;

/// Returns FFmpeg's display matrix for an EXIF orientation (1 to 8).
DisplayMatrix display_matrix(int orientation);

/// Returns the EXIF orientation of a display matrix in side data; 1 if `matrix` is empty. Returns
/// nullopt if the matrix changes the size, or rotates by an angle that is not a multiple of 90
/// degrees.
std::optional<int> orientation_of(std::span<const std::uint8_t> matrix);

/// Returns the orientation that has the same effect as the orientation `first` followed by the
/// orientation `second`.
int combined_orientation(int first, int second);

/// Returns whether the orientation exchanges width and height.
inline bool swaps_sides(int orientation) { return orientation >= 5; }

/// Copies the samples of `from` to `to` and rotates them, so that players show the picture upright
/// without an orientation tag. The caller must create `to` with the same pixel format and the size
/// after the rotation. Each sample must occupy complete bytes, and no plane may be subsampled.
void rotate_samples(const AVFrame& from, int orientation, AVFrame& to);
/// Returns whether `rotate_samples()` supports the pixel format.
bool can_rotate(AVPixelFormat format);

}  // namespace lull::io
