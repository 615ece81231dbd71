#pragma once
// Converts between EXIF orientations and FFmpeg's display matrices, and rotates pictures.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

using DisplayMatrix = std::array<std::int32_t, 9>;

/// Returns FFmpeg's display matrix for an EXIF orientation (1 to 8).
DisplayMatrix display_matrix(int orientation);

/// Returns the EXIF orientation of a display matrix; 1 if `matrix` is empty; nullopt if the matrix
/// scales, or rotates by an angle that is not a multiple of 90 degrees.
std::optional<int> orientation_of(std::span<const std::uint8_t> matrix);

/// Returns the orientation that has the same effect as `first` followed by `second`.
int combined_orientation(int first, int second);

/// Returns whether the orientation exchanges width and height.
inline bool swaps_sides(int orientation) { return orientation >= 5; }

/// Copies the samples of `from` to `to` and rotates them upright. `to` must have the same pixel
/// format and the rotated size. The format must have whole bytes for each sample and no
/// subsampling.
void rotate_samples(const AVFrame& from, int orientation, AVFrame& to);
/// Returns whether `rotate_samples()` supports the pixel format.
bool can_rotate(AVPixelFormat format);

}  // namespace lull::io
