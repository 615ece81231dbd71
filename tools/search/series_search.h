#pragma once
// Determines the noise of the volumes of a series, and the signal components of the series.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/media.h"
#include "noise/volume/cube_statistics.h"
#include "series/fit.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/volumes/series_store.h"

namespace lull::tools {

/// The samples of a series in memory, with its decomposition.
struct FittedSeries {
  SeriesStore store;
  series::Fit fit;
  series::FitOptions options;  // options with which the fit was made
};

/// Collects the slices of a series, for the noise level of each volume and for the decomposition.
class SeriesCollector {
 public:
  /// The samples are stored only if the input may be denoised as a series (may_be_series()).
  SeriesCollector(const DenoiseOptions& options, const io::MediaSource& source);

  /// Adds a slice. Slices must be added in order.
  void add(const Frame& slice);

  /// Completes the noise of the input: the level of each volume, and, if the input is denoised as a
  /// series, its decomposition. The function can be called once.
  /// @param scene  the noise of all volumes together
  /// @param given  true: the noise is given, not estimated, and is therefore not corrected
  void complete(SceneNoise& scene, bool given);

 private:
  /// Estimated levels of a volume, one for each NoiseKind; empty: the volume has too few usable
  /// voxels.
  using LevelsByKind = std::array<std::optional<float>, 2>;

  void finish_volume();
  series::SeriesNoise initial_noise(const SceneNoise& scene) const;
  std::vector<float> estimated_levels(const VolumeEstimate& whole) const;
  std::vector<std::uint8_t> mask() const;

  const DenoiseOptions& options_;
  const io::MediaSource& source_;
  std::optional<SeriesStore> store_;
  std::optional<CubeCollector> current_;  // cubes of the volume whose slices are being added
  std::vector<LevelsByKind> levels_;      // levels of each volume
};

/// If the input is denoised as a series and has not been decomposed yet, reads it again and
/// decomposes it. The noise of `scene` must be given.
/// @throws any error of reading
void decompose_series(const DenoiseOptions& options, const io::MediaSource& source,
                      SceneNoise& scene);

/// Returns whether the levels of volumes differ so much that one common level would be wrong. A
/// tenth of the levels at either end is ignored.
[[nodiscard]] bool levels_differ(std::vector<float> levels, NoiseKind kind);

/// Returns the folder of a file name, for temporary files; empty if it is not the name of a file.
[[nodiscard]] std::string folder_of(const std::string& file);

}  // namespace lull::tools
