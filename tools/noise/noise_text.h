#pragma once
// What is told of the noise of an input: a line for people, a picture.

#include <string>
#include <vector>

#include "io/media.h"
#include "tools/noise/noise_record.h"

namespace lull::tools {

/// What one level of the 0..255 scale is in the file's own units; 0: users speak of 8-bit levels.
[[nodiscard]] inline double unit_of(const io::ValueScale& values) {
  return values.native ? values.span / 255 : 0;
}

/// "coarse (3.9 at 8 px), Y 6.1 Cb 4.0 Cr 4.4 (8-bit levels), rises with brightness". Where one
/// picture does not say, "cannot tell (why); assumed white, ...". `unit`: see unit_of().
[[nodiscard]] std::string describe(const NoiseEstimate& estimate, Layout layout, double unit);

/// "Rician, 4.1 (the file's units), by background and tissue, 3.2 to 6.9 over the volume".
[[nodiscard]] std::string describe(const VolumeEstimate& estimate, double unit);

/// Lines for a clip: one, or one for each of its scenes ("from 12.4 s: ...").
[[nodiscard]] std::vector<std::string> describe(const NoiseRecord& record);

/// An SVG picture of the first twelve scenes: the level over brightness, and the power spectrum
/// over spatial frequency, for each plane. `title` is text.
[[nodiscard]] std::string plot(const NoiseRecord& record, const std::string& title);

}  // namespace lull::tools
