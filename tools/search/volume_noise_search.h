#pragma once
// The noise of volumes: found by a look at all of their slices, and its map.

#include <optional>
#include <vector>

#include "io/media.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// The sample on the 0..255 scale that stands for the value 0.
[[nodiscard]] float sample_of_zero(const io::ValueScale& values);

/// @throws InvalidArgument  --noise rician or --noise-map for an input that has none
void check_volume_noise(const DenoiseOptions& options, const io::VideoInfo& input);

/// The noise of an input that is denoised as a volume and can be read again: all its slices are
/// read once. Nothing: this is no matter of volumes, as frames have colours or are too few.
[[nodiscard]] std::optional<SceneNoise> noise_of_volume(const DenoiseOptions& options,
                                                        const io::MediaSource& source);
/// The same of the first slices of a pipe. That the others have it, and that it does not vary, is
/// assumed.
[[nodiscard]] std::optional<SceneNoise> noise_of_first_slices(const DenoiseOptions& options,
                                                              const std::vector<Frame>& slices,
                                                              const io::ValueScale& values);

/// Of which kind the noise is whose level was given as a sigma: what --noise says, or else the
/// background of the input, where it is a volume that can be read again.
void determine_noise_kind(const DenoiseOptions& options, const io::MediaSource& source, NoiseRecord& noise);

/// Writes what --noise-map asks for, if anything: a NIfTI file like the input, whose voxels are the
/// levels of the noise in the input's units.
/// @throws whatever writing throws
void write_noise_map(const DenoiseOptions& options, const io::MediaSource& source,
                     const NoiseRecord& noise);

}  // namespace lull::tools
