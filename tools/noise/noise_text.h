#pragma once
// Descriptions of the noise of an input: one line of text, and a picture.

#include <string>
#include <vector>

#include "io/media.h"
#include "tools/noise/noise_record.h"

namespace lull::tools {

/// Returns the size of one level of the 0..255 scale in the file's own units; 0 if users give
/// levels on the 8-bit scale.
[[nodiscard]] inline double unit_of(const io::ValueScale& values) {
  return values.native ? values.span / 255 : 0;
}

/// Returns for example "coarse (3.9 at 8 px), Y 6.1 Cb 4.0 Cr 4.4 (8-bit levels), rises with
/// brightness", or "cannot tell (reason); assumed white, ..." where a single picture does not
/// suffice. `unit`: see unit_of().
[[nodiscard]] std::string describe(const NoiseEstimate& estimate, Layout layout, double unit);

/// Returns for example "Rician, 4.1 (the file's units), by background and tissue, 3.2 to 6.9 over
/// the volume".
[[nodiscard]] std::string describe(const VolumeEstimate& estimate, double unit);

/// Returns what the volumes of a series add to that text, for example ", 10 to 40 by volume; signal
/// in 17 of 60 components of the volumes".
[[nodiscard]] std::string describe(const SeriesEstimate& series, double unit);

/// Returns the lines for a clip: one line, or one for each scene ("from 12.4 s: ...").
[[nodiscard]] std::vector<std::string> describe(const NoiseRecord& record);

/// Returns an SVG picture of at most twelve scenes: noise level by brightness and power spectrum by
/// spatial frequency, for each plane. `title` is plain text.
[[nodiscard]] std::string plot(const NoiseRecord& record, const std::string& title);

}  // namespace lull::tools
