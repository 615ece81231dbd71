#pragma once
// Estimates the noise of volumes from all slices, and writes the noise map.

#include <memory>
#include <optional>
#include <vector>

#include "io/media.h"
#include "noise/volume/cube_statistics.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Returns the sample, on the 0..255 scale, for the value 0 of the file.
[[nodiscard]] float sample_of_zero(const io::ValueScale& values);

/// Converts the noise estimate of a volume to the type SceneNoise.
[[nodiscard]] SceneNoise scene_of(VolumeEstimate volume);

/// Estimates photon noise from cubes of 4x4x4 voxels. Returns no value if --noise excludes photon
/// noise, or if the noise level rises too little with brightness. The function requires a larger
/// rise if `other`, an estimate without photon noise, is Rician.
[[nodiscard]] std::optional<SceneNoise> photon_scene(const DenoiseOptions& options,
                                                     const CubeCollector& collector,
                                                     const io::ValueScale& values,
                                                     const std::optional<VolumeEstimate>& other);

/// Opens the input a second time to read all slices of a volume.
[[nodiscard]] std::unique_ptr<io::MediaSource> open_again(const DenoiseOptions& options);

/// @throws InvalidArgument  the input does not support --noise rician, --noise-map or --phase, or
///     the run combines photon noise and --noise-map
void check_volume_noise(const DenoiseOptions& options, const io::VideoInfo& input);

/// Estimates the noise of a volume from all slices, in a second pass over the input. Returns no
/// value for frames with colour, or too few slices.
[[nodiscard]] std::optional<SceneNoise> noise_of_volume(const DenoiseOptions& options,
                                                        const io::MediaSource& source);
/// Estimates the noise of all slices of a pipe from the first slices.
[[nodiscard]] std::optional<SceneNoise> noise_of_first_slices(const DenoiseOptions& options,
                                                              const std::vector<Frame>& slices,
                                                              const io::ValueScale& values);

/// With --sigma, determines whether the noise is Gaussian or Rician: from the option --noise, or
/// from the background of the volume if lull can read the input twice.
void determine_noise_kind(const DenoiseOptions& options, const io::MediaSource& source,
                          NoiseRecord& noise);

/// Checks the file name of --noise-map. The caller must call this function before the noise
/// estimation.
/// @throws any exception of io::check_output()
void check_noise_map(const DenoiseOptions& options, io::MediaSource& source);
/// Writes the file of --noise-map for a volume: the noise levels in the units of the input, with
/// the geometry of the input. Without --noise-map, does nothing.
/// @throws InvalidArgument  the volume has photon noise
void write_noise_map(const DenoiseOptions& options, const io::MediaSource& source,
                     const NoiseRecord& noise);

}  // namespace lull::tools
