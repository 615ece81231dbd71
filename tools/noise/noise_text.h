#pragma once
// Describes the noise of an input as text and as a picture.

#include <cstddef>
#include <string>
#include <vector>

#include "io/media.h"
#include "tools/noise/noise_record.h"

namespace lull::tools {

/// Returns the size of one level of the 0..255 scale in the units of the file, or 0 if the samples
/// have no unit.
[[nodiscard]] inline double unit_of(const io::ValueScale& values) {
  return values.native ? values.span / 255 : 0;
}

/// Returns the size of one level of the 0..255 scale in the units of the file for a channel of a
/// stack of float images. The result is 0 if the sample range of the channel does not determine
/// this scale, and for all other inputs. For channels with ValueScale::native, callers must use
/// unit_of() instead.
[[nodiscard]] double unit_of_channel(const io::MediaSource& source, std::size_t channel);

/// Returns a string such as "coarse (3.9 at 8 px), Y 6.1 Cb 4.0 Cr 4.4 (8-bit levels), rises with
/// brightness", where 3.9 is the noise level of means of 8x8 samples.
/// @param unit  the result of unit_of()
[[nodiscard]] std::string describe(const NoiseEstimate& estimate, Layout layout, double unit);

/// Returns a string such as "Rician, 4.1 (the file's units), by background and tissue, 3.2 to 6.9
/// over the volume".
[[nodiscard]] std::string describe(const VolumeEstimate& estimate, double unit);

/// Returns a string such as "photon noise, gain 40.1, offset 99, read noise 20.5 (the file's
/// units), 52 in dark to 164 in bright areas".
[[nodiscard]] std::string describe(const ScenePhotons& photons);

/// Describes the volumes of a series, for example ", 10 to 40 by volume; signal in 17 of 60
/// components of the volumes".
[[nodiscard]] std::string describe(const SeriesEstimate& series, double unit);

/// Describes a clip in one line, or in one line per scene ("from 12.4 s: ...", "channel 2: ...").
[[nodiscard]] std::vector<std::string> describe(const NoiseRecord& record);

/// Returns an SVG picture of the noise level by brightness and by spatial frequency. The picture
/// shows each plane in up to twelve scenes. `title` is plain text.
[[nodiscard]] std::string plot(const NoiseRecord& record, const std::string& title);

}  // namespace lull::tools
