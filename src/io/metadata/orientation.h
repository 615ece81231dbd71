#pragma once
// Orientation of pictures: EXIF's numbers, display matrices of FFmpeg, and the rotation of samples.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

using DisplayMatrix = std::array<std::int32_t, 9>;

/// Returns FFmpeg's matrix for one of EXIF's orientations (1 to 8).
DisplayMatrix display_matrix(int orientation);

/// Returns the orientation that a display matrix in side data describes. Returns 1 if there are no
/// data. Returns nullopt if the matrix describes an angle that is no multiple of 90 degrees, or a
/// change of size.
std::optional<int> orientation_of(std::span<const std::uint8_t> matrix);

/// Returns the orientation that is equivalent to applying two orientations one after the other.
int combined_orientation(int first, int second);

/// Returns whether the orientation exchanges width and height.
inline bool swaps_sides(int orientation) { return orientation >= 5; }

/// Copies the samples of `from` to `to` and rotates them. The rotated picture is upright without an
/// orientation tag. `to` has the same pixel format and the size after the rotation. The format must
/// use complete bytes for each sample and must not have subsampled planes.
void rotate_samples(const AVFrame& from, int orientation, AVFrame& to);
/// Returns whether rotate_samples() supports the format.
bool can_rotate(AVPixelFormat format);

}  // namespace lull::io
